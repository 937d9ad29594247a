import Foundation

/// A container whose stores are mirrored to CloudKit, which exists on Apple's platforms only. The class is declared so that code that
/// asks for it (`container is NSPersistentCloudKitContainer`) compiles; there are no objects. Its initializers stop the program,
/// because the compiler rejects every call of them.
open class NSPersistentCloudKitContainer: NSPersistentContainer, @unchecked Sendable {  // because its superclass is
    @available(*, unavailable, message: "CloudKit exists on Apple's platforms only: use NSPersistentContainer.")
    public convenience init(name: String) { fatalError("CloudKit exists on Apple's platforms only.") }

    @available(*, unavailable, message: "CloudKit exists on Apple's platforms only: use NSPersistentContainer.")
    public override init(name: String, managedObjectModel model: NSManagedObjectModel) {
        fatalError("CloudKit exists on Apple's platforms only.")
    }
}
