import CoreData
import Foundation

/// Splits the full name of version 1 into first and last name.
@objc(TravelerMigrationPolicy)
final class TravelerMigrationPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard
            let traveler = manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance]
            ).first
        else { return }
        let fullName = sInstance.value(forKey: "fullName") as? String ?? ""
        let parts = fullName.split(separator: " ", maxSplits: 1).map(String.init)
        traveler.setValue(parts.first, forKey: #keyPath(Traveler.firstName))
        traveler.setValue(parts.count > 1 ? parts[1] : nil, forKey: #keyPath(Traveler.lastName))
    }
}
