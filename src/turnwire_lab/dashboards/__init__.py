"""What dashboards/ is made of: typed rules, alerts and panels, written as YAML and JSON."""
