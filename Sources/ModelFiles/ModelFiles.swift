// Models as values. Reading begins here.
//
// - `Model`: a model, its entities and properties, and their validation.
// - `Source`, `Compiled`, `SwiftData`: the forms in which a model is kept. `ModelFile` finds out which one a file
//   has.
// - `Hashes`: version hashes. `Differences`: the changes between two models. `Migration`: mappings.
//
// Where a rule is:
// - the version hash of an entity: `Hashes/VersionHash.swift`
// - why version hashes differ: `Hashes/HashDifference.swift`
// - how SwiftData stores a type of Swift: `SwiftData/StoredForm.swift`
// - the model and the inverses of SwiftData's classes: `SwiftData/StoredClass.swift`
// - which changes of a model can be inferred: `Migration/InferredMapping.swift`
// - which entities and properties of two models are the same: `Migration/ModelMatch.swift`
