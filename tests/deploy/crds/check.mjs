// Checks a ServiceMonitor, JSON on standard input, against the operator's schema: 1 and why, if it is none.
import { readFileSync } from "node:fs";
import { ServiceMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor";

const given = JSON.parse(readFileSync(0, "utf8"));
new ServiceMonitor(given).validate();
