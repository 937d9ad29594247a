import Foundation
import Synchronization

/// Where each property of an entity has its place in an object.
///
/// Attributes and to-one relationships are *slots* of one array of values; to-many relationships are places of a second
/// one. What an entity inherits comes first and at the same numbers as in its superentity, so that an accessor that knows
/// its slot serves subentities too. Hidden slots hold what the store needs and no user sees: an object's position in an
/// ordered relationship, and the owner of a one-way to-many.
final class EntityLayout: @unchecked Sendable {  // because it is immutable, and its model frozen
    /// One value of an object. A class, as one is looked at for every value that is read or written: handing a reference on
    /// costs less than copying what is in it.
    final class Slot {
        enum Kind {
            case integer16, integer32, integer64, boolean, double, float, date
            case decimal, string, data, uuid, uri, transformable, undefined
            case toOne
            /// The order of the object among its to-one destination's members (`Z_FOK_…`).
            case position
        }

        let kind: Kind
        /// The attribute or relationship; for a hidden slot, the relationship it serves: the to-one that a position
        /// belongs to, or the one-way to-many whose owner is kept.
        let property: NSPropertyDescription
        /// The key by which users reach the slot; nil where it is hidden. Elements of a composite attribute are reached
        /// through the composite: `composite.element`.
        let name: String?
        /// The entity that a to-one refers to.
        let destination: NSEntityDescription?
        /// False for transient properties: they have no column.
        let isPersistent: Bool
        /// The value that a new object starts with.
        let initial: Value
        /// The attribute, where the slot holds one.
        let attribute: NSAttributeDescription?

        init(
            kind: Kind, property: NSPropertyDescription, name: String?, destination: NSEntityDescription?,
            isPersistent: Bool, initial: Value
        ) {
            self.kind = kind
            self.property = property
            self.name = name
            self.destination = destination
            self.isPersistent = isPersistent
            self.initial = initial
            attribute = property as? NSAttributeDescription
        }

        var isHidden: Bool { name == nil }
    }

    /// One to-many relationship of an object. A class, for the reason that slots are.
    final class ToMany {
        let relationship: NSRelationshipDescription
        let name: String
        let isOrdered: Bool
        let isPersistent: Bool
        let destination: NSEntityDescription

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

        /// How the store keeps the relationship. The slots are those of the declared destination, which every
        /// subentity shares.
        var storage: Storage {
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

    enum Storage {
        /// The members point to their owner by this slot of theirs, and keep their order in that one.
        case memberSlot(Int, position: Int?)
        /// Pairs in a table of their own.
        case pairs
    }

    /// A to-many relationship that is kept in pairs, as a save looks at it. Each pair is told by one of its sides.
    final class Pairs {
        let relationship: NSRelationshipDescription
        let inverse: NSRelationshipDescription?
        /// The inverse, where the owners have an order among the members'.
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

    enum Place {
        case slot(Int)
        case toMany(Int)
        /// A composite attribute: its elements' slots follow each other.
        case composite(NSCompositeAttributeDescription, Range<Int>)
        case fetched(NSFetchedPropertyDescription)
    }

    /// Kept by the layout, and so by every object, as objects may outlive their model; a model that goes lets go of its
    /// layouts.
    let entity: NSEntityDescription
    /// The entity's position in the frozen model, and that of its root.
    let index: Int
    let rootIndex: Int
    let slots: [Slot]
    /// The kinds of the slots, apart for those who need nothing else of them.
    let kinds: ContiguousArray<Slot.Kind>
    /// Where typed accessors find their places.
    let placeTable: PlaceTable
    /// Where the table has its newest places; valid as long as the layout.
    let currentPlaces: UnsafeMutablePointer<PlaceTable.Current>
    let toMany: [ToMany]
    let places: [String: Place]
    /// The values that a new object starts with.
    let initialValues: ContiguousArray<Value>

    convenience init(entity: NSEntityDescription, oneWayToManys: OneWayToManys) {
        var builder = EntityLayoutBuilder(oneWayToManys)
        builder.add(entity)
        self.init(entity: entity, builder: builder)
    }

    private init(entity: NSEntityDescription, builder: EntityLayoutBuilder) {
        self.entity = entity
        placeTable = PlaceTable()
        currentPlaces = placeTable.current
        index = entity.index
        rootIndex = entity.rootEntity.index
        slots = builder.slots
        kinds = ContiguousArray(builder.slots.map(\.kind))
        toMany = builder.toMany
        places = builder.places
        initialValues = ContiguousArray(builder.slots.map(\.initial))
        referenceSlots = builder.slots.indices.filter { builder.slots[$0].kind == .toOne }
        transformableSlots = builder.slots.indices.filter { builder.slots[$0].kind == .transformable }
        inPlaceSlots = Set(transformableSlots.filter { builder.slots[$0].attribute?.noticesInPlaceChanges == true })
    }

    /// The class of the entity's objects. Cost: one load once it is known for good.
    var objectClass: NSManagedObject.Type {
        if let known = knownClass.load(ordering: .relaxed) {
            // A class is a pointer to what describes it, and lives as long as the process.
            return unsafeBitCast(known, to: NSManagedObject.Type.self)
        }
        let found = ManagedObjectClasses.shared.finding(for: entity)
        if found.isFinal {
            knownClass.store(unsafeBitCast(found.managedObjectClass, to: UnsafeRawPointer.self), ordering: .relaxed)
        }
        return found.managedObjectClass
    }
    private let knownClass = Atomic<UnsafeRawPointer?>(nil)

    /// Whether the entity is another or inherits from it.
    @inline(__always)
    func isKind(of other: NSEntityDescription) -> Bool { entity === other || entity.isKindOf(entity: other) }

    /// How the store keeps each to-many relationship.
    private(set) lazy var storage = ContiguousArray(toMany.map(\.storage))

    /// The to-many relationships that are kept in pairs, by their places; nil for others.
    private(set) lazy var pairs = ContiguousArray(
        zip(toMany, storage).map { place, storage -> Pairs? in
            guard case .pairs = storage, place.isPersistent else { return nil }
            return Pairs(place.relationship)
        })

    /// What a save checks of each object.
    private(set) lazy var rules = ValidationRules(layout: self)

    /// Slots whose values a save looks at one by one: to-one relationships, and transformables.
    let referenceSlots: [Int]
    let transformableSlots: [Int]
    /// Transformable slots whose values are compared, so that changes in place are noticed.
    let inPlaceSlots: Set<Int>

    /// Where the ends of relationships lie. First asked for when a coordinator takes the model.
    private(set) lazy var links = RelationshipLinks(layout: self)

    /// The slot that holds the position belonging to a to-one slot, if its inverse is ordered.
    func positionSlot(of relationship: NSRelationshipDescription) -> Int? {
        slots.firstIndex { $0.kind == .position && $0.property === relationship }
    }

    /// The slot of a property, if it has one.
    func slot(named name: String) -> Int? {
        if case .slot(let slot)? = places[name] { slot } else { nil }
    }
}
