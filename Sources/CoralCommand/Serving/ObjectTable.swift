import Coral

/// A part of an entity's objects, page by page.
///
/// A page begins after the last object of the previous page, which is found by its sort value and its key, not by an offset. If
/// there is an index, only the objects of the page are read. No object is repeated or omitted when others are inserted or
/// deleted.
struct ObjectTable {
    let entity: NSEntityDescription
    /// The predicate as text.
    let condition: String?
    let columns: [QueryColumn]
    /// The key path that the objects are sorted by; nil for the primary key.
    let sort: String?
    private(set) var isAscending: Bool
    private let predicate: NSPredicate?
    static let pageSize = 50

    /// Throws `CommandError` with the position of an error in the predicate, the sort key or the columns.
    ///
    /// - Parameters:
    ///   - columns: The chosen columns.
    ///   - standard: The columns without a choice.
    init(
        entity: NSEntityDescription, condition: String?, columns: String?, standard: [QueryColumn], sort: String?,
        isAscending: Bool, zone: TimeZone?
    ) throws {
        self.entity = entity
        self.condition = condition
        self.sort = sort == "objectID" ? nil : sort
        self.isAscending = isAscending
        predicate = try condition.map { try Predicates.predicate($0, for: entity, in: zone) }
        self.columns = try columns.map { try QueryColumn.columns($0, of: entity) } ?? standard
        // A page begins after one value: neither several keys nor a direction are stated with the key.
        if let sort, try QuerySort.descriptors(sort, for: entity).map(\.key) != [sort] {
            throw CommandError("A table is sorted by one key path, not by \"\(sort)\".")
        }
    }

    /// The last object of a page: its name, and the value that it is sorted by, as text; nil for null.
    struct Position {
        let name: String
        let value: String?
    }

    struct Page {
        let objects: [NSManagedObject]
        /// The position before the previous page's end; nil for the first page.
        var previous: Position?
        /// The position of the next page; nil for the last page.
        var next: Position?
    }

    /// The objects after a position. Throws `CommandError` for a position that is not one of this table.
    func page(after position: Position?, in context: NSManagedObjectContext, _ open: OpenStore) throws -> Page {
        var objects: [NSManagedObject] = []
        for restriction in try restrictions(after: position, open) {
            let request = request(restriction)
            // One object more, to determine whether there is another page.
            request.fetchLimit = Self.pageSize + 1 - objects.count
            objects += try context.fetch(request)
            if objects.count > Self.pageSize { break }
        }
        let previous = position == nil ? nil : objects.first.map(self.position)
        guard objects.count > Self.pageSize else { return Page(objects: objects, previous: previous) }
        objects.removeLast()
        return Page(objects: objects, previous: previous, next: objects.last.map(self.position))
    }

    /// The objects before a position: those after it in the opposite order.
    func page(before position: Position, in context: NSManagedObjectContext, _ open: OpenStore) throws -> Page {
        var opposite = self
        opposite.isAscending.toggle()
        let page = try opposite.page(after: position, in: context, open)
        return Page(objects: page.objects.reversed(), previous: page.next, next: page.previous)
    }

    /// All objects, in the order of the pages.
    func batches(in context: NSManagedObjectContext) throws -> ObjectBatches {
        try ObjectBatches(of: request(nil), isSorted: true, in: context)
    }

    /// The number of objects, counted up to a limit.
    func count(in context: NSManagedObjectContext, limit: Int) throws -> Int {
        let request = request(nil)
        request.sortDescriptors = nil
        request.relationshipKeyPathsForPrefetching = nil
        request.fetchLimit = limit
        return try context.count(for: request)
    }

    private func request(_ restriction: NSPredicate?) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        let parts = [predicate, restriction].compactMap { $0 }
        request.predicate = parts.isEmpty ? nil : NSCompoundPredicate(andPredicateWithSubpredicates: parts)
        request.sortDescriptors = sortDescriptors
        request.relationshipKeyPathsForPrefetching = Array(Set(columns.compactMap(\.prefetching))).sorted()
        return request
    }

    private var sortDescriptors: [NSSortDescriptor] {
        [sort, "objectID"].compactMap { $0 }.map { NSSortDescriptor(key: $0, ascending: isAscending) }
    }

    // MARK: - Positions

    private func position(of object: NSManagedObject) -> Position {
        let value = sort.flatMap { sort -> String? in
            guard case .value(let value, _) = QueryColumn(sort, of: entity).cell(of: object) else { return nil }
            return TextValue.text(of: value)
        }
        return Position(name: StoredName(object.objectID).text, value: value)
    }

    /// The conditions of the objects after a position, in their order: those with the same value and a later key first,
    /// then those with later values. Each uses an index, if there is one, which one condition with OR would not.
    private func restrictions(after position: Position?, _ open: OpenStore) throws -> [NSPredicate?] {
        guard let position else { return [nil] }
        guard let argument = ObjectArgument(argument: position.name), let id = argument.id(in: open) else {
            throw CommandError("The position \(position.name) is not that of an object.")
        }
        let later = NSComparisonPredicate("objectID", isAscending ? .greaterThan : .lessThan, id)
        guard let sort else { return [later] }
        func and(_ first: NSPredicate) -> NSPredicate {
            NSCompoundPredicate(andPredicateWithSubpredicates: [first, later])
        }
        let isNull = NSComparisonPredicate(sort, .equalTo, nil)
        guard let text = position.value else {
            // Null is before all values.
            return isAscending ? [and(isNull), NSComparisonPredicate(sort, .notEqualTo, nil)] : [and(isNull)]
        }
        let value = try value(text, sort)
        let same = and(NSComparisonPredicate(sort, .equalTo, value))
        let beyond = NSComparisonPredicate(sort, isAscending ? .greaterThan : .lessThan, value)
        return isAscending ? [same, beyond] : [same, beyond, isNull]
    }

    private func value(_ text: String, _ sort: String) throws -> Any? {
        let property = try KeyPathCheck(entity).check(KeyPathCheck.keys(of: sort), in: sort)
        let type = (property as? NSAttributeDescription).map { GraphSchema.Attribute($0).type } ?? .string
        guard let value = TextValue.anyValue(text, as: type)?.scalarObject else {
            throw CommandError("The position \"\(text)\" is not a value of \(sort).")
        }
        return value
    }

    // MARK: - Other forms

    /// The line of `coral query` with the same result.
    func commandLine(store: String, model: String?, zone: String?) -> String {
        var words = ["coral", "query", store, "--entity", entity.name ?? ""]
        if let condition { words += ["--where", condition] }
        if let sort { words += ["--sort", isAscending ? sort : "\(sort):descending"] }
        words += ["--columns", columns.map(\.title).joined(separator: ",")]
        if let model { words += ["--model", model] }
        if let zone { words += ["--time-zone", zone] }
        return ShellWord.line(words)
    }
}
