// A store of the first of two versions of the model in Examples/Packages/Checklist.
let modelURL = checklistModelURL
let storeURL = folder.appendingPathComponent("Checklist.sqlite")
let earlier = try ModelVersion.versions(at: modelURL)[0]
try makeContainer(at: storeURL, earlier.model)
