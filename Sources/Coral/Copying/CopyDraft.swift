import CoreData
import GraphDocuments

/// A copy's attributes, before the copy is created.
final class CopyDraft {
    enum Value {
        /// Not set: the copy keeps the value that a new object has.
        case unset
        case set(Any?)
    }

    let node: Int
    let original: NSManagedObject
    let entity: EntityCopy
    /// In the order of the entity's attributes.
    var values: [Value]

    /// Reads an original. Values from ancestors are not set yet.
    ///
    /// Throws errors of closures, and `CopyError` if a closure returns a value that the attribute does not accept.
    init(_ original: NSManagedObject, node: Int, entity: EntityCopy, now: Date) throws {
        self.node = node
        self.original = original
        self.entity = entity
        values = []
        values.reserveCapacity(entity.attributes.count)
        for attribute in entity.attributes {
            switch attribute.source {
            case .original:
                let value = original.value(forKey: attribute.name)
                values.append(.set(attribute.mayChangeInPlace ? CopyDraft.copy(value) : value))
            case .newUUID: values.append(.set(UUID()))
            case .now: values.append(.set(now))
            case .parent: values.append(.unset)
            case .closure(let closure):
                let value = try closure(original, original.value(forKey: attribute.name))
                let place = "\(entity.name).\(attribute.name)"
                guard AttributeValue.accepts(value, attribute.target) else {
                    throw CopyError(
                        .wrongValue, "The closure for \(place) returned a value of type \(Swift.type(of: value)).",
                        at: place)
                }
                values.append(.set(value))
            }
        }
    }

    /// The value of the copy's attribute with that name; nil if it has none, or is unset.
    func value(_ name: String) -> Any? {
        guard let index = entity.attributes.firstIndex(where: { $0.target.name == name }),
            case .set(let value) = values[index]
        else { return nil }
        return value
    }

    func set(_ value: Any?, for name: String) {
        guard let index = entity.attributes.firstIndex(where: { $0.target.name == name }) else { return }
        values[index] = .set(value)
    }

    /// The value for the copy: a copy of a value that can be changed in place, else the value itself.
    private static func copy(_ value: Any?) -> Any? {
        guard let value, type(of: value) is AnyClass else { return value }
        switch value {
        case let value as NSMutableString: return value.mutableCopy()
        case let value as NSMutableData: return value.mutableCopy()
        case let value as NSMutableArray: return value.mutableCopy()
        case let value as NSMutableDictionary: return value.mutableCopy()
        case let value as NSMutableSet: return value.mutableCopy()
        case let value as NSMutableOrderedSet: return value.mutableCopy()
        case let value as any NSCopying: return value.copy(with: nil)
        default: return value
        }
    }
}

/// The values that attributes accept.
enum AttributeValue {
    /// Whether key-value coding accepts the value for the attribute.
    static func accepts(_ value: Any?, _ attribute: NSAttributeDescription) -> Bool {
        guard let value, !(value is NSNull) else { return true }
        return switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
            .floatAttributeType, .booleanAttributeType:
            value is NSNumber || value is any BinaryInteger || value is any BinaryFloatingPoint || value is Bool
        case .decimalAttributeType: value is NSDecimalNumber || value is Decimal
        case .stringAttributeType: value is String || value is NSString
        case .dateAttributeType: value is Date || value is NSDate
        case .binaryDataAttributeType: value is Data || value is NSData
        case .UUIDAttributeType: value is UUID || value is NSUUID
        case .URIAttributeType: value is URL || value is NSURL
        case .objectIDAttributeType: value is NSManagedObjectID
        case .transformableAttributeType, .undefinedAttributeType: true
        // A composite attribute; the oldest supported systems have no constant for it.
        default: value is [String: Any]
        }
    }
}

/// Reverts the changes of a run that has failed.
final class CopyCleaner {
    private let context: NSManagedObjectContext
    /// Linked objects that had no unsaved changes before the run.
    private var unchanged: [NSManagedObjectID: NSManagedObject] = [:]
    private var met: Set<NSManagedObjectID> = []

    init(_ context: NSManagedObjectContext) {
        self.context = context
    }

    /// Records an object before a copy is linked to it.
    func willLink(_ object: NSManagedObject) {
        guard met.insert(object.objectID).inserted, !object.hasChanges else { return }
        unchanged[object.objectID] = object
    }

    /// Deletes unsaved copies. Their relationships are cleared first, so that no delete rule affects existing objects.
    ///
    /// - Parameter copies: In the order of the graph's objects; nil for copies that were not created.
    func remove(_ copies: [NSManagedObject?], graph: CopyGraph) {
        for (copy, node) in zip(copies, graph.nodes) {
            for relationship in node.entity.relationships {
                copy?.setValue(nil, forKey: relationship.target.name)
            }
        }
        for case let copy? in copies { context.delete(copy) }
        context.processPendingChanges()
        for object in unchanged.values where object.isUpdated { context.refresh(object, mergeChanges: false) }
    }
}

/// Work in a context that is one step for its undo manager, or no step if it fails.
struct UndoStep {
    private let context: NSManagedObjectContext

    init(_ context: NSManagedObjectContext) { self.context = context }

    /// Does the work. If it throws, its changes are reverted and the step is discarded; inside a group that the caller
    /// has opened, a step without changes remains.
    func perform(_ work: () throws -> Void, takingBack: () -> Void) throws {
        context.processPendingChanges()
        guard let manager = context.undoManager else {
            do { return try work() } catch {
                takingBack()
                throw error
            }
        }
        let isOutermost = manager.groupingLevel == 0
        manager.beginUndoGrouping()
        do {
            try work()
            context.processPendingChanges()
            manager.endUndoGrouping()
        } catch {
            takingBack()
            context.processPendingChanges()
            // An empty group would be discarded, and `undo()` would then revert an earlier group, which is not part of this work.
            manager.registerUndo(withTarget: context) { _ in }
            manager.endUndoGrouping()
            if isOutermost {
                // Registration is disabled during the undo, so that no redo action is recorded.
                manager.disableUndoRegistration()
                manager.undo()
                manager.enableUndoRegistration()
            }
            throw error
        }
    }
}
