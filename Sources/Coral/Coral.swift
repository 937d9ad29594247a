@_exported import CoreData
@_exported import GraphDocuments

// The toolkit, on Core Data's public API alone. Reading begins here.
//
// - `Walking`: which part of a graph is meant (`GraphShape`), and the walk over it.
// - `Records`, `Values`: an object as a record, and a value of each attribute type in a document.
// - `Serialising`, `Importing`: from objects to documents (`GraphExporter`), and back (`GraphImporter`).
// - `Identity`: which stored object a record represents.
// - `Copying`: copies of graphs (`GraphCopier`).
// - `Differences`, `History`: the changes between two states, from snapshots or from a store's history.
// - `References`, `Transformables`: objects in archives, and values that change in place.
// - `Mapping`: directives in the user info of models.
// - `Execution`: what may be done on rows without objects, and the protocol of the engine that does it
//   (`StoreEngine`).
//
// Where a rule is:
// - the keys that identify the object of a record: `Identity/IdentityRules.swift`
// - which records and stored objects are the same: `Identity/RecordMatching.swift`
// - when a required relationship is checked: `Importing/ImportRequirement.swift`
// - the order in which an import changes some records: `Importing/PlannedState.swift`
// - the order of an import in batches: `Importing/BatchImporter.swift`
// - the conversion of a document's value to an attribute's type: `Values`, the file of the type
// - when a stored value equals a document's: `Values`, the file of the type
// - how the members of a relationship change by a record: `Importing/DocumentModelDifference.swift`
// - what a dangling reference causes: `Importing/ImportOptions.swift`
// - the order of the entities in a document: `Serialising/NestedExport.swift`
// - the version of the package: `CoralVersion.swift`
// - what the record of an object contains: `Records/RecordComposer.swift`
// - which objects are copied or linked because of a relationship: `Copying/CopyPlan.swift`
// - which ancestor's value a copy takes: `Copying/ParentValues.swift`
// - which uniqueness constraints the copies could violate: `Copying/UniqueValues.swift`
// - the meaning of the copying directives: `Copying/CopyDirectives.swift`
//
// Importing the toolkit also imports Core Data, and the plain values of documents.
