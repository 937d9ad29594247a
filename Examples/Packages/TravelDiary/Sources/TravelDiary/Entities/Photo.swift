import CoreData
import Foundation

/// A picture taken at a stop. Its data is outside the database.
@objc(Photo)
public final class Photo: Record {
    @NSManaged public var caption: String?
    @NSManaged public var fileName: String?
    @NSManaged public var imageData: Data?
    @NSManaged public var stop: Stop?

    @objc public var byteCount: Int { imageData?.count ?? 0 }

    public override func prepareForDeletion() {
        super.prepareForDeletion()
        guard let fileName else { return }
        NotificationCenter.default.post(
            name: .photoWillBeDeleted, object: managedObjectContext, userInfo: ["fileName": fileName])
    }
}

extension Photo {
    @nonobjc public class func fetchRequest() -> NSFetchRequest<Photo> {
        return NSFetchRequest<Photo>(entityName: String(describing: Photo.self))
    }
}

extension Notification.Name {
    /// Posted before a photo with a file is deleted, with the name of the file.
    public static let photoWillBeDeleted = Notification.Name("TravelDiaryPhotoWillBeDeleted")
}
