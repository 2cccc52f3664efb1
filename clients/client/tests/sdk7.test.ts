import { suiteOf } from "./suite.js";

suiteOf("v7.0.173");
