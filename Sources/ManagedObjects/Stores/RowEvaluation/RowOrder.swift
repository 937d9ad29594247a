import Foundation
import PredicateLanguage

/// Sorts rows, or other elements, by sort descriptors.
struct RowOrder<Row> {
    private let descriptors: [NSSortDescriptor]
    private let value: (Row, String) throws -> Any?

    /// - Parameter value: Returns the value of a key path of a row.
    init(_ descriptors: [NSSortDescriptor], value: @escaping (Row, String) throws -> Any?) throws {
        self.descriptors = descriptors
        self.value = value
    }

    /// The sorted rows. Each value is read once, before rows are compared.
    func sort(_ rows: [Row]) throws -> [Row] {
        let columns = try descriptors.map { descriptor in
            try rows.map { row -> Any? in
                guard let key = descriptor.key, key != "self", key != "SELF" else { return comparable(row) }
                return comparable(try value(row, key))
            }
        }
        let order = rows.indices.sorted { one, other in
            for (descriptor, column) in zip(descriptors, columns) {
                switch compare(column[one], column[other], by: descriptor) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return one < other
        }
        return order.map { rows[$0] }
    }

    /// The sort values of a row: one for each descriptor.
    func values(of row: Row) throws -> [Any?] {
        try descriptors.map { descriptor in
            guard let key = descriptor.key, key != "self", key != "SELF" else { return comparable(row) }
            return comparable(try value(row, key))
        }
    }

    /// Compares two rows by their results of ``values(of:)``.
    func compare(_ one: [Any?], _ other: [Any?]) -> ComparisonResult {
        for (index, descriptor) in descriptors.enumerated() {
            let result = compare(one[index], other[index], by: descriptor)
            if result != .orderedSame { return result }
        }
        return .orderedSame
    }

    /// Rows themselves are compared by their keys, like a column of references.
    private func comparable(_ value: Any?) -> Any? {
        switch value {
        case let row as RowSubject: row.key.number
        case let id as NSManagedObjectID: id.key.number
        case let object as NSManagedObject: object.key.number
        default: value
        }
    }

    private func compare(_ one: Any?, _ other: Any?, by descriptor: NSSortDescriptor) -> ComparisonResult {
        if descriptor.comparesByClosure {
            return NSSortDescriptor.comparison(of: descriptor, one ?? NSNull(), other ?? NSNull())
        }
        let result = SortComparison.compare(one, other, selector: descriptor.selector ?? "compare:")
        guard !descriptor.ascending else { return result }
        return switch result {
        case .orderedAscending: .orderedDescending
        case .orderedDescending: .orderedAscending
        case .orderedSame: .orderedSame
        }
    }
}

extension RowOrder<NSManagedObject> {
    /// Sorts objects by their current values. A value that cannot be read counts as nil.
    init(ofObjectsBy descriptors: [NSSortDescriptor]) throws {
        var readers: [String: ExpressionEvaluator] = [:]
        for case let key? in descriptors.map(\.key) where readers[key] == nil {
            readers[key] = try RowSelection.explaining(key) { try ExpressionEvaluator(.keyPath(key)) }
        }
        let known = readers
        try self.init(descriptors) { object, key in try? known[key]?.value(for: object) }
    }
}

extension NSSortDescriptor {
    /// The result of a descriptor's comparator for two values. The comparator is accessible only through the
    /// descriptor, which reads values by its key, so each value is wrapped under that key.
    fileprivate static func comparison(of descriptor: NSSortDescriptor, _ one: Any, _ other: Any) -> ComparisonResult {
        guard let key = descriptor.key, key != "self" else { return descriptor.compare(one, to: other) }
        return descriptor.compare(Self.nested(one, under: key), to: Self.nested(other, under: key))
    }

    private static func nested(_ value: Any, under key: String) -> Any {
        key.split(separator: ".").reversed().reduce(value) { value, part in [String(part): value] }
    }
}
