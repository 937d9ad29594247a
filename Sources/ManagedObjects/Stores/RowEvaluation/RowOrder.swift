import Foundation
import FoundationAdditions
import PredicateLanguage

/// Sorts rows, or other elements, by sort descriptors.
package struct RowOrder<Row> {
    /// One sort descriptor, with what each comparison needs.
    fileprivate struct Criterion {
        let descriptor: NSSortDescriptor
        let isAscending: Bool
        let selector: Selector
        let read: (Row) throws -> SortValue
    }

    fileprivate let criteria: [Criterion]

    /// - Parameter reader: Returns the function that reads the value of a key path; called once for each descriptor. A
    ///   nil key path stands for the row itself. The second argument is whether a closure compares the values.
    init(_ descriptors: [NSSortDescriptor], reader: (String?, Bool) throws -> (Row) throws -> SortValue) rethrows {
        criteria = try descriptors.map { descriptor in
            let key = descriptor.key.flatMap { $0 == "self" || $0 == "SELF" ? nil : $0 }
            return Criterion(
                descriptor: descriptor, isAscending: descriptor.ascending, selector: descriptor.selector ?? "compare:",
                read: try reader(key, descriptor.comparesByClosure))
        }
    }

    /// The sorted rows. Each value is read once, before rows are compared.
    ///
    /// - Parameter count: How many of the first rows are wanted; nil for all. The result may have more.
    func sort(_ rows: [Row], first count: Int? = nil) throws -> [Row] {
        let columns = try criteria.map { criterion in try rows.map(criterion.read) }
        func precedes(_ one: Int, _ other: Int) -> Bool {
            for (criterion, column) in zip(criteria, columns) {
                switch Self.compare(column[one], column[other], by: criterion) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return one < other
        }
        guard let count, count <= Self.mostPicked, count < rows.count / 4 else {
            return rows.indices.sorted(by: precedes).map { rows[$0] }
        }
        // Most rows are compared only with the last of the picked ones.
        var picked: [Int] = []
        for row in rows.indices {
            if picked.count == count, count == 0 || precedes(picked[count - 1], row) { continue }
            var (low, high) = (0, picked.count)
            while low < high {
                let middle = (low + high) / 2
                if precedes(picked[middle], row) { low = middle + 1 } else { high = middle }
            }
            picked.insert(row, at: low)
            if picked.count > count { picked.removeLast() }
        }
        return picked.map { rows[$0] }
    }

    /// The number of rows up to which picking is faster than sorting, even if the rows are in descending order.
    private static var mostPicked: Int { 500 }

    fileprivate static func compare(_ one: SortValue, _ other: SortValue, by criterion: Criterion) -> ComparisonResult {
        guard case .plain(let one) = one, case .plain(let other) = other else {
            return criterion.descriptor.comparison(ofValues: one.any ?? NSNull(), other.any ?? NSNull())
        }
        let result = SortComparison.compare(one, other, by: criterion.selector.name)
        guard !criterion.isAscending else { return result }
        return switch result {
        case .orderedAscending: .orderedDescending
        case .orderedDescending: .orderedAscending
        case .orderedSame: .orderedSame
        }
    }
}

/// A value that rows are sorted by.
package enum SortValue {
    case plain(PredicateValue)
    /// A value as a descriptor's closure takes it.
    case original(Any?)

    /// Rows themselves are compared by their keys, like a column of references.
    init(_ value: Any?, isForClosure: Bool = false) {
        let comparable: Any? =
            switch value {
            case let row as RowSubject: row.key.number
            case let id as NSManagedObjectID: id.key.number
            case let object as NSManagedObject: object.key.number
            default: value
            }
        self = isForClosure ? .original(comparable) : .plain(PredicateValue(comparable))
    }

    /// A value that is not for a closure. Objects are compared by their keys, as above.
    init(_ value: PredicateValue) {
        switch value {
        case .object, .other: self.init(value.value)
        default: self = .plain(value)
        }
    }

    fileprivate var any: Any? {
        if case .original(let value) = self { value } else { nil }
    }
}

extension RowOrder<NSManagedObject> {
    /// Sorts objects by their current values.
    package init(ofObjectsBy descriptors: [NSSortDescriptor]) throws {
        try self.init(descriptors) { key, isForClosure in
            guard let key else { return { SortValue($0, isForClosure: isForClosure) } }
            let evaluator = try RowSelection.explaining(key) { try ExpressionEvaluator(.keyPath(key)) }
            // Where the last object had the value, as most objects have the same layout.
            var known: (layout: EntityLayout, slot: Int?)?
            return { object in
                if !isForClosure {
                    if known?.layout !== object.layout { known = (object.layout, object.layout.slot(named: key)) }
                    // A stored value has the order of its column, which objects must have among those of a store.
                    if let slot = known?.slot,
                        object.layout.slots[slot].isPersistent || object.implementation(of: slot) == nil,
                        let value = object.comparableValue(slot)
                    {
                        return .plain(value)
                    }
                }
                return SortValue(try evaluator.value(for: object), isForClosure: isForClosure)
            }
        }
    }

    /// The sort values of an object: one for each descriptor.
    package func values(of object: NSManagedObject) throws -> [SortValue] {
        try criteria.map { try $0.read(object) }
    }

    /// Compares two objects by their results of ``values(of:)``.
    package func compare(_ one: [SortValue], _ other: [SortValue]) -> ComparisonResult {
        for (index, criterion) in criteria.enumerated() {
            let result = Self.compare(one[index], other[index], by: criterion)
            if result != .orderedSame { return result }
        }
        return .orderedSame
    }

    /// Compares an object with the values of another one. Reads only the values that are needed.
    package func compare(_ object: NSManagedObject, to values: [SortValue]) throws -> ComparisonResult {
        for (index, criterion) in criteria.enumerated() {
            let result = Self.compare(try criterion.read(object), values[index], by: criterion)
            if result != .orderedSame { return result }
        }
        return .orderedSame
    }
}
