import CoreData
import GraphDocuments

/// Looks for what is wrong with an SQLite store: references to nothing, inverses that disagree, missing files, keys beyond the
/// last one given out, values that the model forbids, values that should be unique.
///
///     let check = StoreCheck(url: url, model: model)
///     for problem in try check.problems() { print(problem.entity, problem.message) }
///
/// All is read in one state of the store, and no file is changed. On Apple's platforms, where a store's rows cannot be reached, values, uniqueness and references
/// are checked through objects, and nothing is repaired.
public struct StoreCheck {
    /// Where the store is.
    public let url: URL
    /// The model that the store is checked against.
    public let model: NSManagedObjectModel
    /// The number of objects that are loaded together.
    public var batchSize = 500

    /// A check of the store at a location against the model that it was made with.
    public init(url: URL, model: NSManagedObjectModel) {
        self.url = url
        self.model = model
    }

    /// Everything that is wrong: first what the rows tell, then what the values do.
    ///
    /// Throws errors of Core Data's where the store cannot be opened, and `CocoaError.userCancelled`. Progress counts
    /// objects. Cost: some statements for each stored property; each object is loaded once.
    public func problems(progress: Progress? = nil) throws -> [StoreProblem] {
        let snapshot: StoreSnapshot
        do {
            snapshot = try makeSnapshot()
        } catch {
            #if !canImport(Darwin) && !CORAL_PUBLIC_API
                // A store can be so damaged that it cannot even be opened.
                if let problem = RowProblem(damage: error) { return [StoreProblem(problem)] }
            #endif
            throw error
        }
        return try problems(of: snapshot, progress: progress)
    }

    /// Everything that is wrong with a store in one state. Throws as `problems(progress:)` does.
    ///
    /// - Parameter snapshot: A snapshot of the store at `url`, opened with `keepingStoredArchives()` of the model.
    public func problems(of snapshot: StoreSnapshot, progress: Progress? = nil) throws -> [StoreProblem] {
        let context = try snapshot.makeContext()
        var problems: [StoreProblem] = []
        #if !canImport(Darwin) && !CORAL_PUBLIC_API
            problems = try context.performAndWait { try rowProblems(in: context, progress) }.map(StoreProblem.init)
            // Objects of a store that is damaged, or that lacks tables, cannot be read.
            if problems.contains(where: { $0.code == .damagedFile || $0.code == .missingTable }) { return problems }
        #endif
        return problems + (try ValueCheck(self).problems(in: context, progress))
    }

    private func makeSnapshot() throws -> StoreSnapshot {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSReadOnlyPersistentStoreOption: true])
        return try StoreSnapshot(of: coordinator)
    }

    static func checkCancelled(_ progress: Progress?) throws {
        if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
    }
}

#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import ManagedObjects

    extension StoreCheck {
        private func rowProblems(in context: NSManagedObjectContext, _ progress: Progress?) throws -> [RowProblem] {
            try RowCheck(url: url, model: model).problems(in: context) { _, _ in try Self.checkCancelled(progress) }
        }

        private func rowProblems(_ progress: Progress?) throws -> [RowProblem] {
            let context = try makeSnapshot().makeContext()
            return try context.performAndWait { try rowProblems(in: context, progress) }
        }

        /// Puts right what can be, in one transaction, and returns what is still wrong: references to nothing are cleared,
        /// inverses made to agree, the counters of keys raised, values of missing files cleared where they are optional,
        /// files that nothing refers to removed.
        ///
        /// The store is changed: work on a copy. A history that the store keeps does not tell of it. Throws errors of Core
        /// Data's; then nothing has changed.
        public func repair(progress: Progress? = nil) throws -> [StoreProblem] {
            let check = RowCheck(url: url, model: model)
            // What is put right may show what it hid: an inverse that leads back to nothing.
            for _ in 0..<3 {
                let problems = try rowProblems(progress).filter(\.isRepairable)
                if problems.isEmpty { break }
                try check.repair(problems)
            }
            return try self.problems(progress: progress)
        }
    }

    extension StoreProblem {
        fileprivate init(_ problem: RowProblem) {
            self.init(
                code: Code(rawValue: problem.kind.rawValue), entity: problem.entity, property: problem.property,
                count: problem.count, examples: problem.examples, message: problem.message,
                isRepairable: problem.isRepairable)
        }
    }

#endif
