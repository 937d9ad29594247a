import Foundation
import FoundationAdditions

/// An object whose values a context tracks and a store saves.
///
/// Objects belong to their context's queue. The properties that a class declares are read and written through
/// ``value(forKey:)``, or through the typed accessors of generated classes, which use a fixed slot.
open class NSManagedObject: NSObject {
    // Without dynamic checks of exclusive access, because every access to a value uses these fields, and an object
    // belongs to one queue.
    @exclusivity(unchecked) package final var key: ObjectKey
    final let layout: EntityLayout
    /// The context, which clears it when it is deallocated. Unmanaged because every access reads it, and counting
    /// references to a context is expensive.
    @exclusivity(unchecked) final var unmanagedContext: Unmanaged<NSManagedObjectContext>?
    package final var context: NSManagedObjectContext? {
        @inline(__always) get { unmanagedContext?.takeUnretainedValue() }
        set { unmanagedContext = newValue.map(Unmanaged.passUnretained) }
    }
    @exclusivity(unchecked) final var state = ObjectState()
    @exclusivity(unchecked) private final var identifier: NSManagedObjectID?
    @exclusivity(unchecked) private final var assignment: StoreAssignment?
    /// The store that the object will be saved to, if set by `assign(_:to:)`.
    final var assignedStore: NSPersistentStore? {
        get { assignment?.store }
        set { assignment = newValue.map(StoreAssignment.init) }
    }

    // Parts of the state, for reading.
    final var flags: ObjectFlags { @inline(__always) get { state.flags } }
    final var values: OwnValues? { @inline(__always) get { state.values } }
    final var committed: OwnValues? { @inline(__always) get { state.committed } }
    package final var page: RowPage? { @inline(__always) get { state.page } }
    final var row: Int32 { @inline(__always) get { state.row } }
    package final var originSlot: Int16 { @inline(__always) get { state.originSlot } }
    package final var version: Int64 { @inline(__always) get { state.version } }
    final var toMany: ToManyStates {
        @inline(__always) get { state.toMany }
        @inline(__always) _modify { yield &state.toMany }
    }

    /// Creates an object of an entity and inserts it into a context, if given.
    ///
    /// Required, because contexts create objects of subclasses.
    public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        layout = entity.layout
        key = ObjectKey(store: 0, entity: UInt16(truncatingIfNeeded: entity.index), number: 0)
        super.init()
        context?.insert(self)
    }

    /// Creates an object of the class's entity in a context. Required, so that `type.init(context:)` creates objects of a
    /// class that is known at run time, or a generic parameter.
    public required convenience init(context: NSManagedObjectContext) {
        self.init(entity: Self.entity(in: context), insertInto: context)
    }

    /// Creates an object of the class's entity without a context, as the initial value of a variable. Apple's framework prints that
    /// this is not the designated initializer.
    public convenience override init() {
        self.init(entity: Self.entity(), insertInto: nil)
    }

    // MARK: - Identity

    /// The primary key; negative while it is temporary, growing in magnitude with each new object.
    package final var rowNumber: Int64 { key.number }

    /// The entity of the object.
    open var entity: NSEntityDescription { layout.entity }

    /// The context that the object belongs to; nil after the context was deallocated or reset.
    unowned(unsafe) open var managedObjectContext: NSManagedObjectContext? { context }

    /// The object's ID: temporary until the object is saved.
    open var objectID: NSManagedObjectID {
        if let identifier, identifier.key == key { return identifier }
        var maker = ObjectIDMaker(context?.rootCoordinator)
        return objectID(by: &maker)
    }

    /// The object's ID, created by a maker of the context's coordinator if necessary.
    package final func objectID(by maker: inout ObjectIDMaker) -> NSManagedObjectID {
        if let identifier, identifier.key == key { return identifier }
        if key.number == 0 { key = .temporary(entity: layout.index) }
        let created = maker.objectID(for: key, entity: layout.entity)
        identifier = created
        return created
    }

    /// The entity of the class. Where no entity of a loaded model has the class, a new entity without a name and
    /// properties, which cannot be fetched or created; in Apple's framework it is nil, which Swift code cannot test.
    open class func entity() -> NSEntityDescription {
        EntityClassRegistry.entity(of: self) ?? NSEntityDescription()
    }

    private static func entity(in context: NSManagedObjectContext) -> NSEntityDescription {
        // Objects of one class are often created one after the other.
        if let last = context.lastClass, last.name == ObjectIdentifier(self) { return last.entity }
        guard let model = context.rootCoordinator?.managedObjectModel,
            let entity = EntityClassRegistry.entity(of: self, in: model)
        else {
            let entity = entity()
            precondition(
                entity.name != nil,
                "No entity of a loaded model has the class \(self). Load a model, or use init(entity:insertInto:).")
            return entity
        }
        context.lastClass = (ObjectIdentifier(self), entity)
        return entity
    }

    /// A request for all objects of the class's entity. Where no entity of a loaded model has the class, the request
    /// has no entity, and fetching it throws code 134060.
    ///
    /// Disfavoured, so that `Note.fetchRequest()` without a type is the request of a generated class for its own objects.
    @_disfavoredOverload
    public class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        let entity = entity()
        request.entity = entity.name == nil ? nil : entity
        return request
    }

    /// Whether changes of properties that are not in the model leave the object unchanged: true unless a subclass
    /// overrides it. If false, announcing the change of any key marks the object as updated.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    /// Registers the names of the class's key paths in ``KeyPathRegistry``. The engine calls it
    /// before it looks up the first key path of the class. The macro `@Managed` overrides it; other overrides call
    /// super.
    open class func registerKeyPaths() {
        (self as? any GeneratedManagedObject.Type)?.registerGeneratedKeyPaths()
        ManagedKeyPaths.registerAll(of: self)
    }

    // MARK: - State

    /// True from insertion until the first save.
    open var isInserted: Bool { flags.contains(.inserted) }
    /// True when the object has been changed since it was fetched or saved.
    open var isUpdated: Bool { noticed.contains(.updated) && !flags.contains(.inserted) && !flags.contains(.deleted) }
    /// True from deletion until the next save.
    open var isDeleted: Bool { !flags.isDisjoint(with: .removed) }
    /// True until the object's values are first read.
    open var isFault: Bool { isFaultInternally }
    package final var isFaultInternally: Bool { state.isWithoutValues && key.number != 0 }
    /// The number of the entity in its model.
    package final var entityIndex: Int { layout.index }
    /// Whether a fetch can return the object: it is neither deleted nor known to have no row.
    package final var canBeFetched: Bool { flags.isDisjoint(with: [.deleted, .inaccessible, .gone]) }
    /// Whether the object was inserted, updated or deleted since the last save.
    open var hasChanges: Bool {
        // In-place changes cannot make a changed object an unchanged one, and detecting them is expensive.
        !flags.isDisjoint(with: .changes) || !noticed.isDisjoint(with: .changes)
    }
    /// The state, after in-place changes have been detected.
    private var noticed: ObjectFlags {
        noticeInPlaceChanges()
        return flags
    }
    /// True when a save would write a change: a persistent property differs from the store.
    open var hasPersistentChangedValues: Bool {
        checkQueue()
        noticeInPlaceChanges()
        return !persistentChangedSlots().isEmpty || hasChangedToMany(persistent: true)
    }
    /// 0 when the object has its values, 1 while it is a fault.
    open var faultingState: Int { isFault ? 1 : 0 }

    // MARK: - Life cycle, for subclasses

    /// Called once when the object is inserted.
    open func awakeFromInsert() {}
    /// Called each time the object's values are read from the store.
    open func awakeFromFetch() {}
    /// Called when undo, rollback, a refresh of an object with unsaved changes, or a merge policy has changed the
    /// object's values.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}
    /// Called before a save, for every object that will be written. May change values, also those of other objects.
    open func willSave() {}
    /// Called after a save. The default implementation does nothing.
    open func didSave() {}
    /// Called when the object is about to be deleted, before delete rules are applied.
    open func prepareForDeletion() {}
    /// Called before the object becomes a fault. The default implementation does nothing.
    open func willTurnIntoFault() {}
    /// Called after the object has become a fault. The default implementation does nothing.
    open func didTurnIntoFault() {}
    /// Called before a value is read; realises a fault.
    open func willAccessValue(forKey key: String?) {
        checkQueue()
        realise()
    }
    /// Called after a property was read. The default implementation does nothing.
    open func didAccessValue(forKey key: String?) {}
    /// Called before a value changes. Override to observe; call super.
    open func willChangeValue(forKey key: String) {
        checkQueue()
        // Most changes follow another one of the same event, so that the key need not be looked up.
        if !hasRecordedChange, field(of: key) != nil || !Self.contextShouldIgnoreUnmodeledPropertyChanges {
            recordChange()
            if isFaultInternally { state.mark(.announcedUnread) }
        }
        noteWillChange(key)
        if flags.contains(.observed) { notifyObservers { $0.willChange(key, of: self) } }
    }
    /// Called after a value has changed. Override to observe; call super.
    open func didChangeValue(forKey key: String) {
        if !flags.isDisjoint(with: .primitiveChange) { updateInverse(ofPrimitivelySet: key) }
        noteDidChange(key)
        if flags.contains(.observed) { notifyObservers { $0.didChange(key, of: self) } }
    }
    /// Called before a to-many relationship changes.
    open func willChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
        using inObjects: Set<AnyHashable>
    ) {
        announceChange(of: inKey, inMutationKind, inObjects)
    }
    /// Called after a to-many relationship has changed.
    open func didChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
        using inObjects: Set<AnyHashable>
    ) {
        completeChange(of: inKey, inMutationKind, inObjects)
    }

    // MARK: - Values

    /// The value of a property: `NSNumber`, `String`, `Date`, … for attributes, an object for a to-one relationship,
    /// `NSSet` or `NSOrderedSet` for a to-many. Realises a fault: at most one statement, often none.
    ///
    /// A key that the model does not have is that of a property of the class, if its key path is registered; see
    /// ``KeyPathRegistry``. So is an attribute that the class is registered to implement itself. The key `primitiveTitle` gives the primitive value of `title`, unless a property has that name itself.
    open func value(forKey key: String) -> Any? {
        checkQueue()
        guard let field = field(of: key) else {
            if let property = registeredProperty(key) { return property.value(self) }
            if let object = ownObject(forKey: key) { return object }
            if let name = property(ofPrimitiveKey: key) { return primitiveValue(forKey: name) }
            return value(forUndefinedKey: key)
        }
        if case .slot(let slot) = field, let property = implementation(of: slot) {
            return value(of: property, slot: slot)
        }
        noteReading(ofKey: key)
        return publicValue(at: field)
    }

    /// Sets a property, and the inverse of a relationship.
    ///
    /// A value of a type that the property does not accept is a programmer error and stops the program with a message;
    /// check external data with ``validateValue(_:forKey:)``. The key `primitiveTitle` sets the primitive value of `title`, unless
    /// a property has that name itself.
    open func setValue(_ value: Any?, forKey key: String) {
        checkQueue()
        guard let field = field(of: key) else {
            if setRegisteredProperty(key, to: value) { return }
            if let name = property(ofPrimitiveKey: key) { return setPrimitiveValue(value, forKey: name) }
            // Key-value coding sets `Date` by the method `setDate:`, which is also that of `date`.
            if let name = property(withSetterOf: key) { return setValue(value, forKey: name) }
            return setValue(value, forUndefinedKey: key)
        }
        if case .slot(let slot) = field, setImplementation(of: slot, to: value) { return }
        do {
            try setPublicValue(value, at: field, primitive: false)
        } catch let error as UnacceptableValue {
            preconditionFailure(
                "Unacceptable type of value for \(entity.name ?? "").\(key): \(error.expected) was expected, "
                    + "\(error.actual) was given.")
        } catch {
            preconditionFailure("\(entity.name ?? "").\(key) could not be set: \(error)")
        }
    }

    /// The value at a path of keys: through relationships, with collection operators such as `items.@count`.
    ///
    /// Through a to-many relationship the values of all members are a set, or an ordered set.
    open func value(forKeyPath keyPath: String) -> Any? {
        checkQueue()
        return KeyedValue.value(of: self, at: keyPath)
    }

    /// Sets the value at the end of a path of relationships, or one element of a composite attribute. Through a to-many relationship it
    /// is set for every member; where there is no object, nothing is set.
    open func setValue(_ value: Any?, forKeyPath keyPath: String) {
        let keys = keyPath.split(separator: ".", maxSplits: 1).map(String.init)
        guard keys.count == 2, field(of: keyPath) == nil else { return setValue(value, forKey: keyPath) }
        if let owner = self.value(forKey: keys[0]) { KeyedValue.set(value, of: owner, at: keys[1]) }
    }

    /// The values of several properties; `NSNull` for nil.
    open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { $1 })
    }

    /// Sets several properties; `NSNull` clears one.
    open func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues.sorted(by: { $0.key < $1.key }) {
            setValue(value is NSNull ? nil : value, forKey: key)
        }
    }

    /// A to-many relationship as a set. Adding to the set and removing from it changes the relationship.
    open func mutableSetValue(forKey key: String) -> NSMutableSet {
        checkQueue()
        return relationshipSet(forKey: key)
    }

    /// An ordered to-many relationship as an ordered set. Changing the set changes the relationship.
    open func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
        checkQueue()
        return relationshipOrderedSet(forKey: key)
    }

    /// A to-many relationship at the end of a path of to-one relationships, as a set. Changing the set changes the relationship.
    open func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
        let (owner, key) = end(ofKeyPath: keyPath)
        return owner.mutableSetValue(forKey: key)
    }

    /// An ordered to-many relationship at the end of a path of to-one relationships, as an ordered set. Changing the set changes the
    /// relationship.
    open func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
        let (owner, key) = end(ofKeyPath: keyPath)
        return owner.mutableOrderedSetValue(forKey: key)
    }

    /// The array of an attribute as a mutable array. Changing the array sets the attribute to an array with the change.
    open func mutableArrayValue(forKey key: String) -> NSMutableArray {
        checkQueue()
        return KeyedArray(owner: self, key: key)
    }

    /// The array of an attribute at the end of a path of to-one relationships, as a mutable array.
    open func mutableArrayValue(forKeyPath keyPath: String) -> NSMutableArray {
        let (owner, key) = end(ofKeyPath: keyPath)
        return owner.mutableArrayValue(forKey: key)
    }

    /// Called for a key that is not a property of the entity. Stops the program unless a subclass overrides it.
    open func value(forUndefinedKey key: String) -> Any? {
        if flags.contains(.askedForUndefinedKey) {
            state.unmark(.askedForUndefinedKey)
            return nil
        }
        preconditionFailure("\(entity.name ?? "") has no property \"\(key)\".")
    }

    /// Called for a key that is not a property of the entity. Stops the program unless a subclass overrides it.
    open func setValue(_ value: Any?, forUndefinedKey key: String) {
        preconditionFailure("\(entity.name ?? "") has no property \"\(key)\".")
    }

    /// The value of a property, without calling `willAccessValue(forKey:)`. A to-many relationship is a mutable set or
    /// ordered set: changes to it change the relationship as ``setPrimitiveValue(_:forKey:)`` does.
    open func primitiveValue(forKey key: String) -> Any? {
        checkQueue()
        guard let field = field(of: key) else { return value(forUndefinedKey: key) }
        noteReading(ofKey: key)
        guard case .toMany(let index) = field else { return publicValue(at: field) }
        realise()
        return layout.toMany[index].isOrdered
            ? RelationshipOrderedSet(owner: self, index: index, isPrimitive: true)
            : RelationshipSet(owner: self, index: index, isPrimitive: true)
    }

    /// Sets a property without marking the object as changed and without changing the inverse. In an accessor, call it
    /// between `willChangeValue(forKey:)` and `didChangeValue(forKey:)`: the former marks the object as changed, the
    /// latter changes the inverse of a relationship.
    open func setPrimitiveValue(_ value: Any?, forKey key: String) {
        checkQueue()
        guard let field = field(of: key) else { return setValue(value, forUndefinedKey: key) }
        if flags.contains(.announcedUnread) { return }
        do {
            try setPublicValue(value, at: field, primitive: true)
        } catch {
            preconditionFailure("Unacceptable type of value for \(entity.name ?? "").\(key): \(error)")
        }
    }

    /// True while the members, or the destination of a to-one, have not been read.
    open func hasFault(forRelationshipNamed key: String) -> Bool {
        checkQueue()
        return switch field(of: key) {
        case .toMany(let index): isFault || toManyState(at: index)?.isLoaded != true
        case .slot(let slot): isFault || relatedObject(slot: slot)?.isFault == true
        default: false
        }
    }

    /// The IDs of related objects. Creates no objects and fires no fault but the object's own.
    open func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
        checkQueue()
        guard let context else { return [] }
        switch field(of: key) {
        case .toMany(let index):
            realise()
            return memberIDs(at: index)
        case .slot(let slot):
            guard case .reference(let target) = slotValue(slot) else { return [] }
            return [context.objectID(for: target)]
        default: return []
        }
    }

    /// Unsaved changes by persistent property: the new values; `NSNull` for nil. Of a new object, the properties whose values
    /// differ from those with which it was created.
    open func changedValues() -> [String: Any] { collectChangedValues() }

    /// The persistent properties that have changed since pending changes were processed: the values before; `NSNull` for nil.
    open func changedValuesForCurrentEvent() -> [String: Any] { collectChangedValuesForCurrentEvent() }

    /// The values in the store, or at the time when the object was read; `NSNull` for nil. Nil keys mean all.
    open func committedValues(forKeys keys: [String]?) -> [String: Any] { collectCommittedValues(keys) }

    // MARK: - Validation

    /// Validates one value for a property. An override may replace it. Saves do not call it: see ``validateForInsert()``.
    ///
    /// - Throws: A validation error with Core Data's codes (1550 to 1680), or `NSManagedObjectValidationError` for a
    ///   value of a type that the property does not accept.
    open func validateValue(_ value: inout Any?, forKey key: String) throws { try validate(value, forKey: key) }

    /// Checks every property by the rules of the model before the object is inserted into a store. Override to check more, such as by
    /// `validateValue(_:forKey:)`; call super.
    ///
    /// - Throws: The error, or `NSValidationMultipleErrorsError` (1560) with all errors if there are several.
    open func validateForInsert() throws {
        checkQueue()
        noticeInPlaceChanges()
        var validation = Validation()
        validation.check(self)
        try validation.finish()
    }

    /// Checks every property before the object's changes are written.
    open func validateForUpdate() throws {
        checkQueue()
        noticeInPlaceChanges()
        var validation = Validation()
        validation.check(self)
        try validation.finish()
    }

    /// Checks that the object may be deleted: relationships with the rule *deny* must be empty.
    open func validateForDelete() throws {
        checkQueue()
        var validation = Validation()
        validation.checkDeletion(of: self)
        try validation.finish()
    }

    // MARK: - Equality

    /// Objects are equal when they are identical. As in Core Data, subclasses must not override this.
    open override var hash: Int { Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()) >> 4 }

    open override func isEqual(_ object: Any?) -> Bool { object as? NSManagedObject === self }

    // MARK: - Description

    open override var description: String { objectDescription }
}
