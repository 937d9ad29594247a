import FoundationAdditions
import StoreSupport

// The engine. Reading begins here.
//
// - `Model`: entities and properties, around the values of `ModelFiles`.
// - `Objects`, `Accessors`: an object, its state, and how generated classes and key paths reach it.
// - `Context`, `Undo`: a context, its registry, its changes and its queue. `NSManagedObjectContext.swift` is its
//   map.
// - `Fetching`, `Saving`, `Merging`: what a context does with stores and with other contexts.
// - `History`: the history of a store, read and purged.
// - `Stores`: the coordinator, and what the engine asks a store for (`RowStore`, `DatabaseStore`, `ObjectStore`).
//   The stores are above.
//
// Where a rule is:
// - the entities of a store with a configuration: `Model/NSManagedObjectModel+Files.swift`
// - when a context releases unreferenced objects: `Context/NSManagedObjectContext+Registration.swift`
// - what remains of unsaved changes after a merge: `Merging/ChangeMerge.swift`
// - what is left of work that an error ends: `Merging/RestorePoint.swift`
// - how the state of an object may change: `Objects/ObjectState.swift`
// - how many objects a save changes: `Context/ChangeTracker.swift`
// - delete rules: `Context/NSManagedObjectContext+Changes.swift`
// - which properties a save validates: `Saving/ValidationRules.swift`

// Foundation has public classes of these names too. A declaration of the module takes precedence over both imported ones. The
// documentation describes the classes.

/// The condition of a fetch request, and of other parts of this module.
@_documentation(visibility: internal) public typealias NSPredicate = FoundationAdditions.NSPredicate
/// A comparison in a condition.
@_documentation(visibility: internal) public typealias NSComparisonPredicate = FoundationAdditions.NSComparisonPredicate
/// Joined conditions.
@_documentation(visibility: internal) public typealias NSCompoundPredicate = FoundationAdditions.NSCompoundPredicate
/// A computed value in a fetch request or a model.
@_documentation(visibility: internal) public typealias NSExpression = FoundationAdditions.NSExpression
/// An order of a fetch request's results.
@_documentation(visibility: internal) public typealias NSSortDescriptor = FoundationAdditions.NSSortDescriptor

/// A point in the history of stores.
@_documentation(visibility: internal) public typealias NSPersistentHistoryToken = StoreSupport.NSPersistentHistoryToken
