import CoreDataErrors
import Foundation
import ManagedObjects

/// Migrates the objects of one entity mapping. A subclass changes a step by overriding its method.
///
/// For each mapping the manager creates one policy and calls, in this order: ``begin(_:with:)``,
/// ``createDestinationInstances(forSource:in:manager:)`` for each source instance, ``endInstanceCreation(forMapping:manager:)``;
/// when all mappings have done this, ``createRelationships(forDestination:in:manager:)`` for each destination instance and
/// ``endRelationshipCreation(forMapping:manager:)``; when all mappings have done this,
/// ``performCustomValidation(forMapping:manager:)`` and ``end(_:manager:)``. An error of any of them ends the migration.
///
/// The class is found by ``NSEntityMapping/entityMigrationPolicyClassName``, in Swift `Module.Class`. A class whose mapping
/// names it without its module is registered by ``register(as:)``.
open class NSEntityMigrationPolicy: NSObject {
    private var functions: [String: ([Any?]) throws -> Any?] = [:]

    /// Creates a policy; the manager does this once for each mapping.
    public required override init() {}

    // MARK: - Creation

    /// Called before the first source instance of a mapping.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Creates the destination instances of a source instance. The default creates one of the mapping's destination
    /// entity, sets its attributes by the mapping's expressions, and associates the two. An override that does not call
    /// `super` must associate its instances; see
    /// ``NSMigrationManager/associate(sourceInstance:withDestinationInstance:for:)``.
    open func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        guard let entity = manager.destinationEntity(for: mapping) else { return }
        let instance = manager.insertDestinationInstance(of: entity, for: sInstance)
        let values = MappingValues(
            manager: manager, policy: self, mapping: mapping, source: sInstance, destination: instance)
        for property in mapping.attributeMappings ?? [] { try values.set(property) }
        manager.associate(sourceInstance: sInstance, withDestinationInstance: instance, for: mapping)
    }

    /// Called after the last source instance of a mapping.
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    // MARK: - Relationships

    /// Sets the relationships of a destination instance. The default evaluates the mapping's expressions with the first
    /// source instance as `$source`.
    open func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [dInstance])
        let values = MappingValues(
            manager: manager, policy: self, mapping: mapping, source: sources.first, destination: dInstance)
        for property in mapping.relationshipMappings ?? [] { try values.set(property) }
    }

    /// Called after the last destination instance of a mapping.
    open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    // MARK: - Validation

    /// Validates the destination instances of a mapping, before they are saved and validated as usual.
    open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Called last.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    // MARK: - Functions of value expressions

    /// The value of `FUNCTION($entityPolicy, "selector:", …)`: an addition to Core Data's API. On Apple's platforms the
    /// expression calls a method of the class; a method cannot be found by its selector in Swift alone. The default calls
    /// the closure of ``setFunction(_:_:)``.
    ///
    /// - Throws: Code 134170 if there is none.
    open func value(forFunction selector: String, arguments: [Any?]) throws -> Any? {
        guard let function = functions[selector] else {
            throw CocoaError(
                .entityMigrationPolicy,
                "A value expression calls “\(selector)” of \(type(of: self)), which does not override "
                    + "value(forFunction:arguments:) for it.")
        }
        return try function(arguments)
    }

    /// Sets the closure of a function: an addition to Core Data's API. Call it in the initialiser or in
    /// ``begin(_:with:)``.
    public final func setFunction(_ selector: String, _ function: @escaping ([Any?]) throws -> Any?) {
        functions[selector] = function
    }

    // MARK: - Classes

    /// Registers the class under a name, or under its own without the module: an addition to Core Data's API, for
    /// mapping models that name a class without its module, or with another one.
    public class func register(as name: String? = nil) { MigrationPolicyClasses.shared.register(self, as: name) }
}
