import CoreData
import Foundation

/// The superclass of all entities that the server stores: with an identifier, and with dates of creation and change.
@objc(Record)
public class Record: NSManagedObject {
    @NSManaged public var createdAt: Date?
    @NSManaged public var updatedAt: Date?
    @NSManaged public var identifier: String?

    /// Set by the importer, so that the server's date of change is kept.
    var keepsUpdateDate: Bool?
}

extension Record {
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        let now = Date()
        setPrimitiveValue(now, forKey: #keyPath(Record.createdAt))
        setPrimitiveValue(now, forKey: #keyPath(Record.updatedAt))
        setPrimitiveValue(UUID().uuidString, forKey: #keyPath(Record.identifier))
    }

    public override func willSave() {
        super.willSave()
        guard !isDeleted, keepsUpdateDate != true, hasPersistentChangedValues else { return }
        // Sets the primitive value, because setting the property would call this method again.
        if changedValues()[#keyPath(Record.updatedAt)] == nil {
            setPrimitiveValue(Date(), forKey: #keyPath(Record.updatedAt))
        }
    }
}
