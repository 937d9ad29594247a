import ObjectiveC
