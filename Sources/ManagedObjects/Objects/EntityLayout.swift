import Foundation
import Synchronization

/// The position of each property of an entity in an object's storage.
///
/// Attributes and to-one relationships are *slots* of one array of values; to-many relationships are fields of a second
/// array. Inherited properties come first and have the same numbers as in the superentity, so that an accessor with a
/// fixed slot is also valid for subentities. Hidden slots contain values that only the store needs: an object's
/// position in an ordered relationship, and the owner of a one-way to-many.
package final class EntityLayout: @unchecked Sendable {  // because it is immutable, and its model frozen
    /// One value of an object. A class, because a slot is used for every value that is read or written: passing a
    /// reference costs less than copying the contents.
    package final class Slot {
        package enum Kind {
            case integer16, integer32, integer64, boolean, double, float, date
            case decimal, string, data, uuid, uri, transformable, undefined
            case toOne
            /// The position of the object among the members of its to-one destination (`Z_FOK_…`).
            case position
        }

        package let kind: Kind
        /// The attribute or relationship; for a hidden slot, the relationship that it belongs to: the to-one of a
        /// position, or the one-way to-many of an owner.
        package let property: NSPropertyDescription
        /// The key of the slot in key-value coding; nil if it is hidden. The key of an element of a composite
        /// attribute is a path: `composite.element`.
        package let name: String?
        /// Whether this is an element of a composite attribute, so that its name is a path.
        package let isElement: Bool
        /// The destination entity of a to-one.
        package let destination: NSEntityDescription?
        /// False for transient properties, which have no column.
        package let isPersistent: Bool
        /// The value of a new object.
        package let initial: Value
        /// The attribute, if the slot contains the value of one.
        package let attribute: NSAttributeDescription?
        /// Whether it is known that the class of the objects does not implement the attribute itself.
        let isPlain: Atomic<Bool>

        init(
            kind: Kind, property: NSPropertyDescription, name: String?, destination: NSEntityDescription?,
            isPersistent: Bool, initial: Value
        ) {
            self.kind = kind
            self.property = property
            self.name = name
            isElement = name?.utf8.contains(UInt8(ascii: ".")) ?? false
            self.destination = destination
            self.isPersistent = isPersistent
            self.initial = initial
            attribute = property as? NSAttributeDescription
            isPlain = Atomic(name == nil || attribute == nil)
        }

        package var isHidden: Bool { name == nil }
    }

    /// One to-many relationship of an object. A class, for the same reason as slots.
    package final class ToMany {
        package let relationship: NSRelationshipDescription
        package let name: String
        package let isOrdered: Bool
        package let isPersistent: Bool
        package let destination: NSEntityDescription

        init(
            relationship: NSRelationshipDescription, name: String, isOrdered: Bool, isPersistent: Bool,
            destination: NSEntityDescription
        ) {
            self.relationship = relationship
            self.name = name
            self.isOrdered = isOrdered
            self.isPersistent = isPersistent
            self.destination = destination
        }

        /// How the store represents the relationship. The slots are those of the declared destination, which all its
        /// subentities share.
        package var storage: Storage {
            let inverse = relationship.inverseRelationship
            guard inverse?.isToMany != true else { return .pairs }
            let link = inverse ?? relationship
            let slots = destination.layout.slots
            guard let member = slots.firstIndex(where: { $0.kind == .toOne && $0.property === link }) else {
                return .pairs
            }
            return .memberSlot(member, position: slots.firstIndex { $0.kind == .position && $0.property === link })
        }
    }

    package enum Storage {
        /// The first slot of the members contains their owner, the second their position.
        case memberSlot(Int, position: Int?)
        /// Rows of a join table.
        case pairs
    }

    /// A to-many relationship that is stored in a join table, as a save needs it. Only one of the two sides writes a
    /// pair.
    final class Pairs {
        let relationship: NSRelationshipDescription
        let inverse: NSRelationshipDescription?
        /// The inverse, if it is ordered.
        let orderedInverse: NSRelationshipDescription?
        let isOrdered: Bool
        /// Whether the relationship is its own inverse.
        let isReflexive: Bool
        let isFirstSide: Bool

        init(_ relationship: NSRelationshipDescription) {
            self.relationship = relationship
            inverse = relationship.inverseRelationship
            orderedInverse = inverse?.isOrdered == true ? inverse : nil
            isOrdered = relationship.isOrdered
            isReflexive = inverse === relationship
            if let inverse, inverse !== relationship {
                isFirstSide =
                    (relationship.entity.index, relationship.name) < (inverse.entity.index, inverse.name)
            } else {
                isFirstSide = true
            }
        }
    }

    package enum Field {
        case slot(Int)
        case toMany(Int)
        /// A composite attribute, with the consecutive slots of its elements.
        case composite(NSCompositeAttributeDescription, Range<Int>)
        case fetched(NSFetchedPropertyDescription)
    }

    /// Owned by the layout, and so by every object, because objects may outlive their model; a model that is
    /// deallocated releases its layouts.
    package let entity: NSEntityDescription
    /// The index of the entity in the frozen model, and that of its root entity.
    package let index: Int
    package let rootIndex: Int
    package let slots: [Slot]
    /// The kinds of the slots, for callers that need nothing else of them.
    package let kinds: ContiguousArray<Slot.Kind>
    /// The table in which typed accessors look up their fields.
    let fieldTable: FieldTable
    /// The table's current fields; valid as long as the layout.
    let currentFields: UnsafeMutablePointer<FieldTable.Current>
    package let toMany: [ToMany]
    let fieldsByKey: FieldKeys
    package var fields: [String: Field] { fieldsByKey.fields }
    /// The values of a new object.
    package let initialValues: ContiguousArray<Value>

    convenience init(entity: NSEntityDescription, inverselessRelationships: InverselessRelationships) {
        var builder = EntityLayoutBuilder(inverselessRelationships)
        builder.add(entity)
        self.init(entity: entity, builder: builder)
    }

    private init(entity: NSEntityDescription, builder: EntityLayoutBuilder) {
        self.entity = entity
        fieldTable = FieldTable()
        currentFields = fieldTable.current
        index = entity.index
        rootIndex = entity.rootEntity.index
        slots = builder.slots
        kinds = ContiguousArray(builder.slots.map(\.kind))
        toMany = builder.toMany
        fieldsByKey = FieldKeys(builder.fields)
        initialValues = ContiguousArray(builder.slots.map(\.initial))
        referenceSlots = builder.slots.indices.filter { builder.slots[$0].kind == .toOne }
        positionedSlots = builder.slots.indices.compactMap { position in
            guard builder.slots[position].kind == .position else { return nil }
            let reference = builder.slots.firstIndex {
                $0.kind == .toOne && $0.property === builder.slots[position].property
            }
            return reference.map { ($0, position) }
        }
        transformableSlots = builder.slots.indices.filter { builder.slots[$0].kind == .transformable }
        transientDefaultSlots = builder.slots.indices.filter { slot in
            !builder.slots[slot].isPersistent && !builder.slots[slot].initial.isNull
        }
        derivedSlots = builder.slots.indices.filter { builder.slots[$0].property is NSDerivedAttributeDescription }
        inPlaceSlots = Set(transformableSlots.filter { builder.slots[$0].attribute?.noticesInPlaceChanges == true })
    }

    /// The class of the entity's objects. Cost: one load once the class is final.
    var objectClass: NSManagedObject.Type {
        if let known = knownClass.load(ordering: .relaxed) {
            // A class is a pointer to its metadata, which exists as long as the process.
            return unsafeBitCast(known, to: NSManagedObject.Type.self)
        }
        let found = ManagedObjectClasses.shared.finding(for: entity)
        if found.isFinal {
            knownClass.store(unsafeBitCast(found.managedObjectClass, to: UnsafeRawPointer.self), ordering: .relaxed)
        }
        return found.managedObjectClass
    }
    /// Whether the class stays what it is: one that is not in the program yet may be registered.
    var isClassKnown: Bool { knownClass.load(ordering: .relaxed) != nil }
    private let knownClass = Atomic<UnsafeRawPointer?>(nil)

    /// Whether the entity is equal to another or inherits from it.
    @inline(__always)
    func isKind(of other: NSEntityDescription) -> Bool { entity === other || entity.isKindOf(entity: other) }

    /// How the store represents each to-many relationship.
    private(set) lazy var storage = ContiguousArray(toMany.map(\.storage))

    /// The to-many relationships that are stored in a join table, by their fields; nil for others.
    private(set) lazy var pairs = ContiguousArray(
        zip(toMany, storage).map { field, storage -> Pairs? in
            guard case .pairs = storage, field.isPersistent else { return nil }
            return Pairs(field.relationship)
        })

    /// The validation rules of each object.
    package private(set) lazy var rules = ValidationRules(layout: self)

    /// Slots that a save examines one by one: to-one relationships, and transformables.
    package let referenceSlots: [Int]
    /// The slots of to-one relationships whose inverse is ordered, with those of the positions.
    let positionedSlots: [(reference: Int, position: Int)]
    let transformableSlots: [Int]
    /// Slots that the store computes.
    package let derivedSlots: [Int]
    /// Transformable slots whose values are compared, so that in-place changes are detected.
    let inPlaceSlots: Set<Int>
    /// Slots of transient attributes with a default value, which no row contains.
    let transientDefaultSlots: [Int]

    /// The two ends of each relationship. First used when a model is assigned to a coordinator.
    private(set) lazy var links = RelationshipLinks(layout: self)

    /// Whether a relationship without an inverse can refer to objects of the entity. Cost: a step for each relationship of the
    /// model. Computed at each call, because contexts on several threads share a layout.
    var isDestinationWithoutInverse: Bool {
        entity.managedObjectModel.entities.contains { other in
            other.layout.links.slots.indices.contains { slot in
                other.layout.slots[slot].kind == .toOne && other.layout.links.slots[slot].inverse == .none
                    && other.layout.slots[slot].destination.map(isKind) == true
            }
                || other.layout.links.toMany.indices.contains { index in
                    other.layout.links.toMany[index].inverse == .none
                        && isKind(of: other.layout.toMany[index].destination)
                }
        }
    }

    /// The slot with the position of a to-one slot, if its inverse is ordered.
    package func positionSlot(of relationship: NSRelationshipDescription) -> Int? {
        slots.firstIndex { $0.kind == .position && $0.property === relationship }
    }

    /// The slot of a property, if it has one.
    package func slot(named name: String) -> Int? {
        if case .slot(let slot)? = fieldsByKey[name] { slot } else { nil }
    }
}

/// The fields of an entity by their keys.
///
/// A key of up to 15 bytes of UTF-8, as most names are, is part of its `String`. Such a key is found by these bits, for a
/// tenth of the cost of hashing its characters. All other keys are found in a dictionary.
struct FieldKeys {
    private typealias Bits = (UInt64, UInt64)

    let fields: [String: EntityLayout.Field]
    /// A hash table with linear probing, at most half full. Its size is a power of two.
    private let table: ContiguousArray<(bits: Bits, field: EntityLayout.Field)?>
    private let mask: Int

    init(_ fields: [String: EntityLayout.Field]) {
        self.fields = fields
        var size = 4
        while size < 2 * fields.count { size *= 2 }
        mask = size - 1
        var table = ContiguousArray<(bits: Bits, field: EntityLayout.Field)?>(repeating: nil, count: size)
        for (key, field) in fields where key.utf8.count <= 15 {
            let bits = Self.bits(of: key)
            var index = Self.hash(bits) & mask
            while table[index] != nil { index = (index + 1) & mask }
            table[index] = (bits, field)
        }
        self.table = table
    }

    /// The field of a key; nil if there is no field with the key.
    @inline(__always)
    subscript(key: String) -> EntityLayout.Field? {
        let bits = Self.bits(of: key)
        var index = Self.hash(bits) & mask
        while let entry = table[index] {
            if entry.bits == bits { return entry.field }
            index = (index + 1) & mask
        }
        return fields[key]
    }

    /// The memory of a string. Strings with the same memory are equal; equal strings of more than 15 bytes may differ.
    @inline(__always)
    private static func bits(of key: String) -> Bits { unsafeBitCast(key, to: Bits.self) }

    @inline(__always)
    private static func hash(_ bits: Bits) -> Int {
        let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: ((bits.0 ^ (bits.1 &* factor)) &* factor) >> 40)
    }
}
