import { suiteOf } from "./suite.js";

suiteOf("v6.0.326");
