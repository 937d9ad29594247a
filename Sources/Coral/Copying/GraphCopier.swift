import CoreData

/// Copies graphs of managed objects: one object or many, and what belongs to them by the rules; inside a context, to
/// another context, to another store, or to a model that has the same names.
///
///     let copies = try GraphCopier().copy([note])
///     copies[note]
///
/// In two phases: first all copies are made, then they are connected. So each object is copied once however many ways
/// lead to it, and what refers to a copied object refers to its copy. The originals stay as they are. On any error
/// nothing is left of the copies. Call it where the originals' context may be used: on its queue; the copies' context
/// is entered from there. Every method takes a `Progress`, counted in objects made and objects connected; cancelling
/// it makes the method throw `CocoaError.userCancelled`.
///
/// With an undo manager, copying is one step, and a failed run leaves none.
public struct GraphCopier: Sendable {
    /// How the graph is copied.
    public var rules: CopyRules
    /// The number of originals that are loaded together.
    public var batchSize: Int
    /// Whether the copies' context is saved when all is done, with whatever else is unsaved there. It is not unless
    /// said so.
    public var saves: Bool
    /// Whether every copy is validated for insertion before the method returns, so that an error shows at once.
    public var validates: Bool
    /// Whether `copy(_:in:inBatches:progress:)` may leave the work to the store.
    public var rowCopying = RowCopying.automatic

    /// A copier that copies by rules.
    public init(
        rules: CopyRules = .ownership, batchSize: Int = 500, saves: Bool = false, validates: Bool = false
    ) {
        self.rules = rules
        self.batchSize = batchSize
        self.saves = saves
        self.validates = validates
    }

    /// Says what `copy(_:into:store:progress:)` would do, and changes nothing.
    ///
    /// Throws as that method does for what can be known before copying. Cost: the walk.
    public func plan(
        _ objects: [NSManagedObject], into context: NSManagedObjectContext? = nil, store: NSPersistentStore? = nil,
        progress: Progress? = nil
    ) throws -> CopyPlan {
        guard !objects.isEmpty else { return CopyPlan() }
        return try withSession(objects, into: context, store: store, progress: progress) { session, _ in session.plan }
    }

    /// Copies objects, and what the rules say belongs to them.
    ///
    /// Throws `CopyError` and `ShapeError` for rules and directives that do not fit the model, for objects without a
    /// common context, and for values that cannot be made unique; what closures and hooks throw; what fetching and
    /// saving throw.
    ///
    /// Cost: for each generation of the graph and batch one statement for each entity and each of its to-many
    /// relationships, and one for each uniqueness constraint. Memory holds all copies, and of the originals one batch.
    ///
    /// - Parameters:
    ///   - objects: The originals, of one context.
    ///   - context: Where the copies are made; the objects' own without it.
    ///   - store: Which store they are for; where the originals are without it.
    ///   - progress: Counts objects; cancelling it stops the copy.
    @discardableResult
    public func copy(
        _ objects: [NSManagedObject], into context: NSManagedObjectContext? = nil, store: NSPersistentStore? = nil,
        progress: Progress? = nil
    ) throws -> CopyMap {
        guard !objects.isEmpty else {
            return CopyMap(
                originals: [], copies: [], index: [:], unsaved: [], roots: [], omissions: CopyOmissions(),
                missingProperties: [])
        }
        return try withSession(objects, into: context, store: store, progress: progress) { session, roots in
            try session.run(roots: roots)
        }
    }

    /// Copies one object, and what the rules say belongs to it, and gives its copy.
    ///
    /// Throws as `copy(_:into:store:progress:)` does, and where the copy is of another class, as it may be in another
    /// model.
    public func copy<Object: NSManagedObject>(
        _ object: Object, into context: NSManagedObjectContext? = nil, store: NSPersistentStore? = nil
    ) throws -> Object {
        let copies = try copy([object], into: context, store: store)
        guard let copy = copies.roots.first as? Object else {
            throw CopyError(
                .modelMismatch, "Copies of \(object.entity.name ?? "") are of another class.",
                at: object.entity.name ?? "")
        }
        return copy
    }

    /// Walks, and hands on what has found out what there is to do.
    func withSession<Result>(
        _ objects: [NSManagedObject], into context: NSManagedObjectContext?, store: NSPersistentStore?,
        progress: Progress?, _ body: (CopySession, [NSManagedObjectID]) throws -> Result
    ) throws -> Result {
        let contexts = Set(objects.map { $0.managedObjectContext.map(ObjectIdentifier.init) })
        guard contexts.count == 1, let source = objects.first?.managedObjectContext else {
            throw CopyError(.noContext, "Objects to copy must be of one context, and there must be one.")
        }
        let roots = objects.map(\.objectID)
        let target = context ?? source
        func work() throws -> Result {
            let session = try CopySession(
                self, roots: roots, source: source, target: target, store: store, progress: progress)
            return try body(session, roots)
        }
        // The walk and the copying read the originals in many steps.
        return try source.readingOneState {
            target === source ? try work() : try target.performAndWait(work)
        }
    }
}
