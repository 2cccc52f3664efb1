import { hookSuiteOf } from "./hook-suite.js";
import { leftSuiteOf } from "./left-suite.js";
import { reactSuiteOf } from "./react-suite.js";
import { waitingSuiteOf } from "./waiting-suite.js";

reactSuiteOf("v5.0.277");
hookSuiteOf("v5.0.277");
waitingSuiteOf("v5.0.277");
leftSuiteOf("v5.0.277");
