import CoreData

// How a copy runs.
//
// `GraphShape`, `CopyRules` and the model's user info become a `CopyBlueprint`, which finds every invalid directive before any copy
// is created. The graph is walked by the same code as in an export. Two phases follow: the copies are created, then
// their relationships are set; the `CopyMap` maps originals to copies. A link that would have to be removed from an
// object outside the copy is omitted and reported. `CopyCleaner` removes the copies after an error. Of two rules for
// the same property, the one in code takes precedence, then the model's user info, then the base.
//
// Copies that are saved and released in batches are divided by `CopyBatches`, so that the destinations of required
// relationships are saved in the same batch or an earlier one. If no rule needs an object, the copies are made in the
// store (`RowCopying`): the engine's `RowCopier` finds the rows by one recursive statement and inserts each entity's
// copies by one more. `RowCopyPlan` checks rules and schema before the transaction. Obstacles that only the rows show
// end the transaction, which is rolled back; `RowCopyObstacle` lists them, and states what has to be known to find
// each. `GraphSubset` copies into a new store; `Redaction` replaces its attribute values by substitutes.

/// Copies graphs of managed objects: one object or many, and the objects that belong to them according to the shape;
/// within a context, to another context, to another store, or to a model with the same names.
///
///     let copies = try GraphCopier().copy([note])
///     copies[note]
///
/// Copying has two phases: first all copies are created, then they are connected. So each object is copied once even if
/// several paths lead to it, and references between copied objects become references between their copies. The
/// originals are not changed. On any error all copies are removed. Call the methods on the queue of the originals'
/// context; they enter the queue of the copies' context themselves. Every method takes a `Progress`, which counts
/// objects created and objects connected; cancelling it makes the method throw `CocoaError.userCancelled`.
///
/// If the copies' context has an undo manager, copying is one undo step; a failed run adds none.
public struct GraphCopier: Sendable {
    /// Which objects are copied with the given ones.
    public var shape: GraphShape
    /// How copies differ from their originals.
    public var rules: CopyRules
    /// The number of originals that are loaded together.
    public var batchSize: Int
    /// Whether the copies' context is saved at the end, with its other unsaved changes; false by default.
    public var saves: Bool
    /// Whether every copy is validated for insertion before the method returns.
    public var validates: Bool
    /// Whether `copy(_:in:inBatches:progress:)` may copy in the store.
    package var rowCopying = RowCopying.automatic

    /// Whether copies in the background call the methods of entity classes, such as `awakeFromInsert` and `willSave`. With `false`
    /// the store makes the copies itself, even if entities have classes of their own, which is many times faster.
    public var callsLifecycleMethods: Bool {
        get { rowCopying != .always }
        set { rowCopying = newValue ? .automatic : .always }
    }

    /// Creates a copier.
    public init(
        shape: GraphShape = .ownership, rules: CopyRules = CopyRules(), batchSize: Int = 500, saves: Bool = false,
        validates: Bool = false
    ) {
        self.shape = shape
        self.rules = rules
        self.batchSize = batchSize
        self.saves = saves
        self.validates = validates
    }

    /// The plan of `copy(_:into:store:progress:)`. Changes nothing.
    ///
    /// Throws the errors of that method that can be detected before copying. Cost: loading the originals.
    public func plan(
        _ objects: [NSManagedObject], into context: NSManagedObjectContext? = nil, store: NSPersistentStore? = nil,
        progress: Progress? = nil
    ) throws -> CopyPlan {
        guard !objects.isEmpty else { return CopyPlan() }
        return try withSession(objects, into: context, store: store, progress: progress) { session, _ in session.plan }
    }

    /// Copies objects, and the objects that belong to them according to the shape.
    ///
    /// Throws `CopyError` and `ShapeError` for rules and directives that do not fit the model, for objects without a
    /// common context, and for values that cannot be made unique; errors of closures and hooks, of fetching and of
    /// saving.
    ///
    /// Cost: for each generation of the graph and batch one statement for each entity and each of its to-many
    /// relationships, and one for each uniqueness constraint. Memory holds all copies, and one batch of the originals.
    ///
    /// - Parameters:
    ///   - objects: The originals, of one context.
    ///   - context: The context of the copies; by default that of the objects.
    ///   - store: The store of the copies; by default that of the originals.
    ///   - progress: Counts objects; cancelling it cancels copying.
    @discardableResult
    public func copy(
        _ objects: [NSManagedObject], into context: NSManagedObjectContext? = nil, store: NSPersistentStore? = nil,
        progress: Progress? = nil
    ) throws -> CopyMap {
        guard !objects.isEmpty else {
            return CopyMap(
                originals: [], copies: [], index: [:], unsaved: [], roots: [], omissions: CountedEntries(),
                missingProperties: [])
        }
        return try withSession(objects, into: context, store: store, progress: progress) { session, roots in
            try session.run(roots: roots)
        }
    }

    /// Copies one object, and the objects that belong to it according to the shape, and returns its copy.
    ///
    /// Throws as `copy(_:into:store:progress:)` does, and if the copy has another class, which is possible in
    /// another model.
    public func copy<Object: NSManagedObject>(
        _ object: Object, into context: NSManagedObjectContext? = nil, store: NSPersistentStore? = nil
    ) throws -> Object {
        let copies = try copy([object], into: context, store: store)
        guard let copy = copies.roots.first as? Object else {
            throw CopyError(
                .modelMismatch, "Copies of \(object.entity.name ?? "") have another class.",
                at: object.entity.name ?? "")
        }
        return copy
    }

    /// Walks the graph, and passes the session with the result to the body.
    package func withSession<Result>(
        _ objects: [NSManagedObject], into context: NSManagedObjectContext?, store: NSPersistentStore?,
        progress: Progress?, _ body: (CopySession, [NSManagedObjectID]) throws -> Result
    ) throws -> Result {
        let source = try objects.commonContext(to: "copy") { CopyError(.noContext, $0) }
        let roots = objects.map(\.objectID)
        let target = context ?? source
        func work() throws -> Result {
            let session = try CopySession(
                self, roots: roots, source: source, target: target, store: store, progress: progress)
            return try body(session, roots)
        }
        // The walk and the copying read the originals in many steps, which must all read the same state of the store.
        return try source.readingOneState {
            target === source ? try work() : try target.performAndWait(work)
        }
    }
}

extension NSManagedObject {
    /// A copy of the object and of the objects that belong to it according to the shape; by default those that it owns:
    /// the destinations of its cascading relationships, with the directives in the model's user info.
    ///
    ///     let copy = try note.deepCopy()
    ///
    /// The copies are not saved. Throws as `GraphCopier.copy(_:into:store:progress:)` does.
    public func deepCopy(
        shape: GraphShape = .ownership, rules: CopyRules = CopyRules(), into context: NSManagedObjectContext? = nil
    ) throws -> Self {
        let copies = try GraphCopier(shape: shape, rules: rules).copy([self], into: context)
        guard let copy = copies[self] else {
            throw CopyError(
                .modelMismatch, "Copies of \(entity.name ?? "") have another class.", at: entity.name ?? "")
        }
        return copy
    }
}

extension Collection where Element: NSManagedObject {
    /// Copies of the objects, in their order, and of the objects that belong to them according to the shape; objects
    /// that several of them refer to are copied once. Throws as `GraphCopier.copy(_:into:store:progress:)` does, and `CopyError` if
    /// a copy has another class, which is possible in another model; then there are no copies.
    ///
    ///     let copies = try notes.deepCopies()
    public func deepCopies(
        shape: GraphShape = .ownership, rules: CopyRules = CopyRules(), into context: NSManagedObjectContext? = nil
    ) throws -> [Element] {
        let copies = try GraphCopier(shape: shape, rules: rules).copy(Array(self), into: context)
        if let other = copies.roots.first(where: { !($0 is Element) }) {
            let name = other.entity.name ?? ""
            let target = other.managedObjectContext
            target?.performAndWait { for (_, copy) in copies { target?.delete(copy) } }
            throw CopyError(.modelMismatch, "Copies of \(name) have another class.", at: name)
        }
        return copies.roots.compactMap { $0 as? Element }
    }
}
