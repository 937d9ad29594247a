import Coral
import CoralTools

#if STORE_ENGINE
    import ManagedObjects
#endif

/// The dates of objects, and the changes of a history, in the order of time.
struct Timeline {
    /// The times of a timeline, in seconds since 2001.
    struct Range {
        var since: Double?
        /// Not included.
        var until: Double?

        func contains(_ seconds: Double) -> Bool {
            // A date that is not a number has no place.
            !seconds.isNaN && seconds >= since ?? -.infinity && seconds < until ?? .infinity
                || until == nil && seconds == .infinity
        }
    }

    /// An event in the form in which it is shown.
    struct Event {
        let seconds: Double
        let object: String
        /// The key path of the date, or the change: `updated title`.
        let kind: String
        /// The display name; nil without one, and for an object that does not exist any more.
        let label: String?
    }

    /// An event as it is kept in memory.
    private struct Entry {
        let seconds: Double
        let key: Int64
        let kind: Int32
    }

    private struct Kind: Hashable {
        let entity: String
        let text: String
    }

    private var entries: [Entry] = []
    private var kinds: [Kind] = []
    private var numbers: [Kind: Int32] = [:]
    private let range: Range

    var count: Int { entries.count }

    /// The times of the first and the last event.
    var ends: (first: Double, last: Double)? {
        guard let first = entries.first, let last = entries.last else { return nil }
        return (first.seconds, last.seconds)
    }

    /// The times of the events, in their order.
    var times: some Sequence<Double> { entries.lazy.map(\.seconds) }

    /// Reads the dates of entities and their subentities. Must be called on the queue of the store's context.
    ///
    /// Throws errors of reading, and `CocoaError.userCancelled` if the progress is cancelled.
    init(of entities: [NSEntityDescription], in open: OpenStore, _ range: Range, _ progress: Progress) throws {
        self.range = range
        let all = Set(entities.flatMap(PlainSchema.hierarchy))
        for entity in all.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            try addDates(of: entity, open.store, open.context, progress)
        }
        try addHistory(of: all, open, progress)
        entries.sort {
            ($0.seconds, kinds[Int($0.kind)].entity, $0.key, $0.kind)
                < ($1.seconds, kinds[Int($1.kind)].entity, $1.key, $1.kind)
        }
    }

    /// The dates of all objects of a model, in any order. Must be called on the queue of the context.
    ///
    /// Entities in damaged parts of the file are omitted. Throws other errors of reading, and `CocoaError.userCancelled` if the
    /// progress is cancelled.
    static func dates(
        of model: NSManagedObjectModel, in store: NSPersistentStore, _ context: NSManagedObjectContext,
        _ progress: Progress
    ) throws -> some Sequence<Double> {
        var timeline = Timeline(range: Range())
        for entity in model.entities {
            do {
                try timeline.addDates(of: entity, store, context, progress)
            } catch  where StoreProblem(damage: error) != nil {}
        }
        return timeline.times
    }

    private init(range: Range) { self.range = range }

    private mutating func add(_ seconds: Double, _ entity: String, _ key: Int64, _ text: String) {
        guard range.contains(seconds) else { return }
        let kind = Kind(entity: entity, text: text)
        let number: Int32
        if let known = numbers[kind] {
            number = known
        } else {
            number = Int32(kinds.count)
            kinds.append(kind)
            numbers[kind] = number
        }
        entries.append(Entry(seconds: seconds, key: key, kind: number))
    }

    // MARK: - Dates of objects

    private mutating func addDates(
        of entity: NSEntityDescription, _ store: NSPersistentStore, _ context: NSManagedObjectContext,
        _ progress: Progress
    ) throws {
        let attributes = entity.attributesByName.values.filter { !$0.isTransient }
        let dates = attributes.filter { $0.attributeType == .dateAttributeType }.map(\.name).sorted()
        let composites = attributes.filter { GraphSchema.Attribute($0).type == .composite }.map(\.name)
        if composites.isEmpty {
            guard !dates.isEmpty else { return }
            if try addRows(of: entity, dates, store, context, progress) { return }
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.includesSubentities = false
        _ = try ObjectStream(of: request, isSorted: false, in: context).forEach(progress) { object in
            guard let key = StoredName(object.objectID).primaryKey else { return }
            for name in dates + composites {
                guard let attribute = object.entity.attributesByName[name] else { continue }
                let value = GraphValue(
                    object.value(forKey: name), declaredAs: GraphSchema.Attribute(attribute))
                add(value, entity.name ?? "", key, name)
            }
        }
    }

    private mutating func add(_ value: GraphValue, _ entity: String, _ key: Int64, _ path: String) {
        switch value {
        case .date(let seconds): add(seconds, entity, key, path)
        case .composite(let elements):
            for element in elements { add(element.value, entity, key, "\(path).\(element.name)") }
        default: break
        }
    }

    #if !STORE_ENGINE
        private mutating func addRows(
            of entity: NSEntityDescription, _ dates: [String], _ store: NSPersistentStore,
            _ context: NSManagedObjectContext, _ progress: Progress
        ) throws -> Bool { false }
    #else
        /// Reads the dates of an entity's rows; false if they are not in columns.
        private mutating func addRows(
            of entity: NSEntityDescription, _ dates: [String], _ store: NSPersistentStore,
            _ context: NSManagedObjectContext, _ progress: Progress
        ) throws -> Bool {
            typealias Found = [(seconds: Double, key: Int64, name: Int)]
            let found = try context.withRows(of: store) { rows -> Found? in
                guard let cursor = try rows.cursor(over: entity, columns: dates.map { .attribute([$0]) }) else {
                    return nil
                }
                defer { cursor.finish() }
                var found: Found = []
                while try cursor.next() {
                    if progress.isCancelled { throw CocoaError(.userCancelled) }
                    for index in dates.indices where !cursor.isNull(Int32(index + 1)) {
                        let seconds = cursor.double(Int32(index + 1))
                        if range.contains(seconds) { found.append((seconds, cursor.integer(0), index)) }
                    }
                }
                return found
            }
            guard let found, let found else { return false }
            for (seconds, key, name) in found { add(seconds, entity.name ?? "", key, dates[name]) }
            return true
        }
    #endif

    // MARK: - History

    private mutating func addHistory(
        of entities: Set<NSEntityDescription>, _ open: OpenStore, _ progress: Progress
    ) throws {
        let names = Set(entities.compactMap(\.name))
        do {
            try HistoryPages(open.coordinator).forEach(progress: progress) { transaction in
                let seconds = transaction.timestamp.timeIntervalSinceReferenceDate
                for change in transaction.changes ?? [] {
                    let id = change.changedObjectID
                    guard let entity = id.entity.name, names.contains(entity), let key = StoredName(id).primaryKey
                    else { continue }
                    add(seconds, entity, key, Self.text(of: change))
                }
            }
        } catch let error as CocoaError where error.errorCode == NSPersistentStoreUnsupportedRequestTypeError {
            // The store keeps no history.
        }
    }

    private static func text(of change: NSPersistentHistoryChange) -> String {
        switch change.changeType {
        case .insert: return "inserted"
        case .delete: return "deleted"
        case .update:
            let names = change.updatedProperties.map { $0.map(\.name).sorted().joined(separator: ", ") } ?? ""
            return names.isEmpty ? "updated" : "updated \(names)"
        @unknown default: return "changed"
        }
    }

    // MARK: - Events

    /// The number of events whose objects are fetched together.
    private static let batchSize = 500

    /// Passes the events to a closure, in the order of time. Must be called on the queue of the store's context.
    func forEach(in open: OpenStore, _ body: (Event) throws -> Void) throws {
        for start in stride(from: 0, to: entries.count, by: Self.batchSize) {
            let batch = entries[start..<min(start + Self.batchSize, entries.count)]
            let labels = try self.labels(of: batch, open)
            for entry in batch {
                let kind = kinds[Int(entry.kind)]
                let name = "\(kind.entity)/p\(entry.key)"
                try body(Event(seconds: entry.seconds, object: name, kind: kind.text, label: labels[name]))
            }
            try open.releaseObjects()
        }
    }

    /// The display names of the objects of events, by the objects' short names.
    private func labels(of batch: ArraySlice<Entry>, _ open: OpenStore) throws -> [String: String] {
        var labels: [String: String] = [:]
        let keys = Dictionary(grouping: batch) { kinds[Int($0.kind)].entity }.mapValues { Set($0.map(\.key)) }
        for (entity, keys) in keys {
            let ids = keys.compactMap { ObjectArgument(argument: "\(entity)/p\($0)")?.id(in: open) }
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: "self IN %@", ids)
            for object in try open.context.fetch(request) {
                labels[StoredName(object.objectID).text] = ObjectLabel.text(of: object)
            }
        }
        return labels
    }
}
