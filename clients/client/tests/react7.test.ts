import { hookSuiteOf } from "./hook-suite.js";
import { leftSuiteOf } from "./left-suite.js";
import { reactSuiteOf } from "./react-suite.js";
import { waitingSuiteOf } from "./waiting-suite.js";

reactSuiteOf("v7.0.173");
hookSuiteOf("v7.0.173");
waitingSuiteOf("v7.0.173");
leftSuiteOf("v7.0.173");
