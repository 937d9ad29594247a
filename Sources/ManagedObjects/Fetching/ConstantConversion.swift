import CoreDataErrors
import Foundation
import FoundationAdditions
import PredicateLanguage

/// Converts the constants of a fetch's predicate to the kinds of the values that they are compared with.
///
/// A constant of another kind equals nothing in memory, and in SQL the result depends on the column's affinity. So that
/// no fetch returns a wrong result silently, numbers and texts are converted to each other as SQLite converts them for
/// a column of the attribute's type, which is what Core Data's own stores do, and any other mixture of kinds is an
/// error, as it is an exception in Apple's framework.
struct ConstantConversion {
    private var kinds: ComparedKinds
    /// The coordinator of the fetch. Its stores know its IDs only, which those of another one become.
    private let coordinator: NSPersistentStoreCoordinator?

    init(entity: NSEntityDescription, coordinator: NSPersistentStoreCoordinator?) {
        kinds = ComparedKinds(entity: entity)
        self.coordinator = coordinator
    }

    /// The predicate with converted constants; nil if none needs to be converted.
    ///
    /// - Throws: Code 134060 where values are compared that can never be equal.
    func convert(_ predicate: PredicateNode) throws -> PredicateNode? {
        switch predicate {
        case .constant, .opaque: return nil
        case .comparison(let comparison): return try convert(comparison).map(PredicateNode.comparison)
        case .and(let parts): return try convert(parts, convert(_:)).map(PredicateNode.and)
        case .or(let parts): return try convert(parts, convert(_:)).map(PredicateNode.or)
        case .not(let part): return try convert(part).map(PredicateNode.not)
        }
    }

    /// The list with converted elements; nil if none is converted.
    private func convert<Part>(_ parts: [Part], _ convert: (Part) throws -> Part?) rethrows -> [Part]? {
        var converted: [Part]?
        for (index, part) in parts.enumerated() {
            guard let new = try convert(part) else { continue }
            converted = converted ?? parts
            converted?[index] = new
        }
        return converted
    }

    /// Converts inside an expression: the predicates of subqueries and conditions.
    private func convertInside(_ expression: ExpressionNode) throws -> ExpressionNode? {
        switch expression {
        case .subquery(let collection, let variable, let predicate):
            var inner = self
            inner.kinds.variables[variable] = kinds.entity(of: collection)
            let convertedCollection = try convertInside(collection)
            let converted = try inner.convert(predicate)
            if convertedCollection == nil, converted == nil { return nil }
            return .subquery(
                collection: convertedCollection ?? collection, variable: variable, predicate: converted ?? predicate)
        case .keyPath(let base, let keys): return try convertInside(base).map { .keyPath(base: $0, keys: keys) }
        case .element(let base, let index): return try convertInside(base).map { .element(of: $0, index) }
        case .conditional(let test, let then, let otherwise):
            return try convert(test).map { .conditional($0, then: then, otherwise: otherwise) }
        case .function(let name, let arguments):
            return try convert(arguments, convertInside(_:)).map { .function(name, arguments: $0) }
        default: return nil
        }
    }

    // MARK: - Comparisons

    private func convert(_ comparison: ComparisonNode) throws -> ComparisonNode? {
        var new = comparison
        var isNew = false
        if let left = try convertInside(comparison.left) { (new.left, isNew) = (left, true) }
        if let right = try convertInside(comparison.right) { (new.right, isNew) = (right, true) }
        let (left, right) = (kinds.kind(of: new.left), kinds.kind(of: new.right))
        switch comparison.operation {
        case .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            if let left, let right {
                guard left.kind == right.kind else {
                    throw Self.error(comparison, "It compares \(left.kind.name) with \(right.kind.name).")
                }
            } else if let left {
                let isCollection = left.isMany && comparison.modifier == .direct
                if let value = try convert(new.right, to: left.kind, isCollection: isCollection, comparison) {
                    (new.right, isNew) = (value, true)
                }
            } else if let right, comparison.modifier != .direct {
                if let value = try members(of: new.left, to: right, comparison) { (new.left, isNew) = (value, true) }
            } else if let right {
                if let value = try convert(new.left, to: right.kind, isCollection: right.isMany, comparison) {
                    (new.left, isNew) = (value, true)
                }
            }
        case .in:
            if let value = try members(of: new.right, to: left, comparison) {
                (new.right, isNew) = (value, true)
            } else if let right, right.isMany,
                let value = try convert(new.left, to: right.kind, isCollection: false, comparison)
            {
                (new.left, isNew) = (value, true)
            }
        case .contains:
            if let value = try members(of: new.left, to: right, comparison) {
                (new.left, isNew) = (value, true)
            } else if let left, left.isMany, comparison.modifier == .direct,
                let value = try convert(new.right, to: left.kind, isCollection: false, comparison)
            {
                (new.right, isNew) = (value, true)
            }
        case .between:
            if let value = try members(of: new.right, to: left, comparison) { (new.right, isNew) = (value, true) }
        case .beginsWith, .endsWith, .like, .matches, .customSelector: break
        }
        return isNew ? new : nil
    }

    /// The elements of a constant list converted to a kind; nil if the expression is not one, or needs no conversion.
    private func members(
        of list: ExpressionNode, to kind: ComparedKind?, _ comparison: ComparisonNode
    ) throws -> ExpressionNode? {
        guard let kind = kind?.kind else { return nil }
        switch list {
        case .aggregate(let elements):
            return try convert(elements) { try convert($0, to: kind, isCollection: false, comparison) }
                .map(ExpressionNode.aggregate)
        case .constant(let constant):
            if kind.isKind(ofElementsOf: constant.value) || kind == .object && areOwn(constant.value) { return nil }
            guard case .collection(let elements, _) = PredicateValue(constant.value) else { return nil }
            return try convert(elements) { try value($0, as: kind, comparison) }
                .map { .constant(value: $0.map(\.value)) }
        default: return nil
        }
    }

    /// A constant converted to a kind; nil if the expression is not one, or needs no conversion.
    ///
    /// - Parameter isCollection: Whether it is compared with a whole collection.
    private func convert(
        _ expression: ExpressionNode, to kind: ValueKind, isCollection: Bool, _ comparison: ComparisonNode
    ) throws -> ExpressionNode? {
        guard let value = expression.constantValue, !value.isNull else { return nil }
        if isCollection {
            if case .collection = value { return nil }
            throw Self.error(comparison, "It compares the values of a to-many relationship with one; use ANY or ALL.")
        }
        return try self.value(value, as: kind, comparison).map { .constant(value: $0.value) }
    }

    // MARK: - Values

    /// The value in a kind; nil if it has that kind.
    private func value(
        _ value: PredicateValue, as kind: ValueKind, _ comparison: ComparisonNode
    ) throws -> PredicateValue? {
        if kind == .object {
            if case .object(let object as NSManagedObject) = value, !isOwn(object) { return own(object.objectID) }
            if case .other(let other) = value, let id = NSManagedObjectID.id(other), !isOwn(id) { return own(id) }
        }
        if kind.contains(value) { return nil }
        guard let converted = kind.converting(value) else {
            throw Self.error(comparison, "It compares \(kind.name) with \(value.kind).")
        }
        return converted
    }

    private func isOwn(_ object: NSManagedObject) -> Bool {
        coordinator == nil || object.context?.rootCoordinator.map { $0 === coordinator } ?? true
    }

    private func isOwn(_ id: NSManagedObjectID) -> Bool {
        id.isTemporaryID || id.storeIdentifier == nil || coordinator.map(id.isOf) ?? true
    }

    /// Whether a list is an array of IDs or objects of which none belongs to another coordinator.
    private func areOwn(_ list: Any?) -> Bool {
        switch list {
        case let ids as [NSManagedObjectID]: ids.allSatisfy(isOwn)
        case let objects as [NSManagedObject]: objects.allSatisfy(isOwn)
        default: false
        }
    }

    /// The coordinator's ID of the same row; one that equals no object if no store of the coordinator has the row.
    private func own(_ id: NSManagedObjectID) -> PredicateValue {
        .other(coordinator.flatMap { $0.key(for: id).map($0.objectID(for:)) } ?? NSManagedObjectID())
    }

    private static func error(_ comparison: ComparisonNode, _ reason: String) -> CocoaError {
        CocoaError(.coreData, "“\(comparison.predicateFormat)” cannot be evaluated. \(reason)")
    }
}

extension ValueKind {
    /// Whether a list has a static type whose elements are of this kind, so that they need not be examined.
    fileprivate func isKind(ofElementsOf list: Any?) -> Bool {
        guard let list else { return false }
        let type = Swift.type(of: list)
        return switch self {
        case .text: type == [String].self || type == Set<String>.self
        case .number: type == [Int].self || type == Set<Int>.self || type == [Int64].self || type == [Double].self
        case .uuid: type == [UUID].self || type == Set<UUID>.self
        case .object, .date, .url, .data: false
        }
    }
}

extension NSPredicate {
    /// The predicate with its constants converted for a fetch of the entity; itself if none needs to be.
    ///
    /// - Throws: Code 134060 where values are compared that can never be equal.
    package final func converted(
        for entity: NSEntityDescription, in coordinator: NSPersistentStoreCoordinator?
    ) throws -> NSPredicate {
        let conversion = ConstantConversion(entity: entity, coordinator: coordinator)
        return try conversion.convert(embeddedNode).map(NSPredicate.predicate(stating:)) ?? self
    }
}

extension FetchSpecification {
    /// The request with the constants of its predicates converted for its entity.
    ///
    /// - Throws: Code 134060 where values are compared that can never be equal, and for an order by several values of an object.
    package func converted(
        for entity: NSEntityDescription, in coordinator: NSPersistentStoreCoordinator?
    ) throws -> FetchSpecification {
        for descriptor in sortDescriptors ?? [] where !descriptor.comparesByClosure {
            guard let key = descriptor.key else { continue }
            // The usual order, by an attribute.
            if case .slot? = entity.layout.fields[key] { continue }
            guard ComparedKinds(entity: entity).kind(of: .keyPath(key))?.isMany == true else { continue }
            throw CocoaError(.coreData, "Objects cannot be sorted by “\(key)”, which has several values.")
        }
        var converted = self
        converted.predicate = try predicate?.converted(for: entity, in: coordinator)
        converted.havingPredicate = try havingPredicate?.converted(for: entity, in: coordinator)
        return converted
    }
}
