"""The `ag-ui` dialect: one POST for each run, answered with a stream of events."""
