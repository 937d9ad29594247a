// What Foundation has on Apple's platforms and lacks elsewhere, or has without what Core Data needs. Reading begins here.
//
// - `Predicates`: predicates, expressions and sort descriptors, whose texts and evaluation are the module `PredicateLanguage`, and the
//   names of key paths (`KeyPathRegistry`), which they are created from.
// - `ValueTransformer` and its registry, and `UndoManager`.
// - `KeyValueObserving`: the names of key-value observing, and the observation of a `Progress`.
// - `ProgramClasses`: the classes of the program by a name without a module, as Objective-C's runtime finds them.
// - `LocalPort`, `FileManager+Groups`, `FoundationNames`: ports within the process, folders of groups, and names.
//
// Nothing here knows managed objects: an object in a predicate is a `PredicateSubject`.
