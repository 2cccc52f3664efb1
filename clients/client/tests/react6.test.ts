import { hookSuiteOf } from "./hook-suite.js";
import { leftSuiteOf } from "./left-suite.js";
import { reactSuiteOf } from "./react-suite.js";
import { waitingSuiteOf } from "./waiting-suite.js";

reactSuiteOf("v6.0.326");
hookSuiteOf("v6.0.326");
waitingSuiteOf("v6.0.326");
leftSuiteOf("v6.0.326");
