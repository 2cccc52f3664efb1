import { suiteOf } from "./suite.js";

suiteOf("v5.0.277");
