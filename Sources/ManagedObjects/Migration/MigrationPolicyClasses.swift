import Foundation
import Synchronization

/// Finds the classes of migration policies by the names that mappings give.
final class MigrationPolicyClasses: Sendable {
    static let shared = MigrationPolicyClasses()

    private let known = Mutex<[String: NSEntityMigrationPolicy.Type]>([:])

    func register(_ policyClass: NSEntityMigrationPolicy.Type, as name: String?) {
        known.withLock { $0[name ?? String(describing: policyClass)] = policyClass }
    }

    /// The only policy class of the program with a name, which may be without a module.
    private func onlyClass(named name: String) -> NSEntityMigrationPolicy.Type? {
        let found = ProgramClasses.named(name).compactMap { $0 as? NSEntityMigrationPolicy.Type }
        return found.count == 1 ? found[0] : nil
    }

    /// The policy of a mapping.
    ///
    /// - Throws: Code 134110 if its class does not exist or is no policy, and if a custom mapping names none.
    func policy(of mapping: NSEntityMapping) throws -> NSEntityMigrationPolicy {
        guard let name = mapping.entityMigrationPolicyClassName, !name.isEmpty else {
            guard mapping.mappingType != .customEntityMappingType else {
                throw CocoaError(
                    .migration,
                    "The entity mapping “\(mapping.name ?? "")” is of the type custom and has no migration policy.")
            }
            return NSEntityMigrationPolicy()
        }
        let registered = known.withLock { $0[name] }
        guard
            let found = registered ?? NSClassFromString(name) as? NSEntityMigrationPolicy.Type ?? onlyClass(named: name)
        else {
            throw CocoaError(
                .migration,
                "There is no migration policy of the class \(name), which the entity mapping “\(mapping.name ?? "")” names. "
                    + "Register it with NSEntityMigrationPolicy.register(as:).")
        }
        return found.init()
    }
}
