import Coral
import GraphDocuments

// How a store is checked.
//
// `StoreCheck` has two parts: the engine's `RowCheck` examines rows with SQL, below the level of objects, where
// dangling references and inconsistent inverses can be detected; then every object is validated. `SchemaCheck` contains
// the checks of all databases, which read through a `RowCheckReader`. The checks of pages, and of large values beside
// the file, exist for files only. The types of columns exist in PostgreSQL only, and are checked when a store is
// opened. `StorePage` writes the records of an export as a page, after a first pass that determines the names of
// objects.

/// Checks a store in SQLite or PostgreSQL for dangling references, inconsistent inverses, missing files, primary keys greater
/// than the recorded maximum, ambiguous positions, values that the model does not allow, and violated uniqueness constraints.
///
///     let check = StoreCheck(url: url, model: model)
///     for problem in try check.problems() { print(problem.entity, problem.message) }
///
/// A check reads a single state of the store and changes no file. On Apple's platforms a store's rows are not
/// accessible: values, uniqueness and references are checked through objects, and nothing can be repaired.
public struct StoreCheck {
    /// The location of the store.
    public let url: URL
    /// The model that the store is checked against.
    public let model: NSManagedObjectModel
    /// The number of objects that are loaded together.
    public var batchSize = 500

    /// A check of the store at a location against its model.
    public init(url: URL, model: NSManagedObjectModel) {
        self.url = url
        self.model = model
    }

    /// All problems: first those found in the rows, then those found in the values.
    ///
    /// Throws Core Data's errors if the store cannot be opened, and `CocoaError.userCancelled`. Progress counts
    /// objects. Cost: some statements for each stored property; each object is loaded once.
    public func problems(progress: Progress? = nil) throws -> [StoreProblem] {
        let snapshot: StoreSnapshot
        do {
            snapshot = try makeSnapshot()
        } catch {
            // A damaged store may fail to open; the error is then reported as the only problem.
            guard let damage = StoreProblem(damage: error) else { throw error }
            return [damage]
        }
        return try problems(of: snapshot, progress: progress)
    }

    /// All problems of a snapshot of the store. Throws as `problems(progress:)` does.
    ///
    /// - Parameters:
    ///   - snapshot: A snapshot of the store at `url`, opened with `keepingStoredArchives()` of the model.
    ///   - progress: Reports the work, and can cancel it.
    public func problems(of snapshot: StoreSnapshot, progress: Progress? = nil) throws -> [StoreProblem] {
        let context = try snapshot.makeContext()
        var problems: [StoreProblem] = []
        #if STORE_ENGINE
            problems = try context.performAndWait { try rowProblems(in: context, progress) }.map(StoreProblem.init)
            if problems.contains(where: \.hindersReading) { return problems }
        #endif
        do {
            return problems + (try ValueCheck(self).problems(in: context, progress))
        } catch {
            guard let damage = StoreProblem(damage: error) else { throw error }
            return problems + [damage]
        }
    }

    #if STORE_ENGINE
        /// The problems of the rows in a snapshot of the store, without those of values that only objects validate.
        package func rowProblems(of snapshot: StoreSnapshot, progress: Progress? = nil) throws -> [StoreProblem] {
            let context = try snapshot.makeContext()
            return try context.performAndWait { try rowProblems(in: context, progress) }.map(StoreProblem.init)
        }
    #endif

    private func makeSnapshot() throws -> StoreSnapshot {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
        try coordinator.addPersistentStore(
            ofType: url.storeType, configurationName: nil, at: url,
            options: [NSReadOnlyPersistentStoreOption: true])
        return try StoreSnapshot(of: coordinator)
    }
}

#if STORE_ENGINE

    import ManagedObjects
    import StoreTools

    extension StoreCheck {
        private func rowProblems(in context: NSManagedObjectContext, _ progress: Progress?) throws -> [RowProblem] {
            try RowCheck(url: url, model: model).problems(in: context) { _, _ in try progress?.checkCancelled() }
        }

        private func rowProblems(_ progress: Progress?) throws -> [RowProblem] {
            let context = try makeSnapshot().makeContext()
            return try context.performAndWait { try rowProblems(in: context, progress) }
        }

        /// Repairs the repairable problems, and returns the remaining ones: missing tables and columns are added, with the
        /// default values of attributes, dangling references are cleared, inverses made consistent, recorded maximum keys
        /// raised, optional values of missing files cleared, and unused files removed. Works in up to three rounds, each in
        /// one transaction, because a repair may reveal further problems.
        ///
        /// The store is changed: work on a copy. The store's history does not record the repair. Throws Core Data's
        /// errors; the round that fails is rolled back.
        public func repair(progress: Progress? = nil) throws -> [StoreProblem] {
            let check = RowCheck(url: url, model: model)
            // A repaired inverse may turn out to be a dangling reference, which the next round repairs.
            for _ in 0..<3 {
                let problems = try rowProblems(progress).filter(\.isRepairable)
                if problems.isEmpty { break }
                try check.repair(problems)
            }
            return try self.problems(progress: progress)
        }
    }

    extension StoreProblem {
        /// The damage that an error on opening or reading a store reports: of the file, or of Core Data's own tables. Nil for
        /// other errors.
        package init?(damage error: any Error) {
            guard let problem = RowProblem(damage: error) else { return nil }
            self.init(problem)
        }

        fileprivate init(_ problem: RowProblem) {
            self.init(
                code: Code(rawValue: problem.kind.rawValue), entity: problem.entity, property: problem.property,
                count: problem.count, examples: problem.examples, message: problem.message,
                isRepairable: problem.isRepairable)
        }
    }

#else

    extension StoreProblem {
        /// The damage that an error on opening or reading a store reports. Nil for other errors.
        package init?(damage error: any Error) {
            guard let error = error as? CocoaError, error.code == .fileReadCorruptFile else { return nil }
            self.init(
                code: .damagedFile, entity: "", property: nil, count: 1, examples: [],
                message: error.localizedDescription,
                isRepairable: false)
        }
    }

#endif
