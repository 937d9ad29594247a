import CoreData
import Foundation

/// A place on a trip.
@objc(Stop)
@objcMembers
public class Stop: Record {
    @NSManaged public var arrival: Date?
    @NSManaged public var latitude: Double
    @NSManaged public var longitude: Double
    @NSManaged public var name: String?
    @NSManaged public var trip: Trip?
    @NSManaged public var photos: Set<Photo>

    public class func fetchRequest() -> NSFetchRequest<Stop> {
        return NSFetchRequest<Stop>(entityName: "Stop")
    }

    /// The letter for the index beside a list of stops.
    public var initial: String {
        guard let first = name?.first else { return "#" }
        return String(first).uppercased()
    }

    public func distance(to other: Stop) -> Double {
        let radius = 6_371_000.0
        func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
        let deltaLatitude = radians(other.latitude - latitude)
        let deltaLongitude = radians(other.longitude - longitude)
        let a =
            sin(deltaLatitude / 2) * sin(deltaLatitude / 2)
            + cos(radians(latitude)) * cos(radians(other.latitude)) * sin(deltaLongitude / 2) * sin(deltaLongitude / 2)
        return radius * 2 * atan2(sqrt(a), sqrt(1 - a))
    }

    public override func validateForInsert() throws {
        try super.validateForInsert()
        try validateCoordinates()
    }

    public override func validateForUpdate() throws {
        try super.validateForUpdate()
        try validateCoordinates()
    }

    private func validateCoordinates() throws {
        guard abs(latitude) > 90 || abs(longitude) > 180 else { return }
        throw TravelDiaryError.invalidCoordinates(latitude: latitude, longitude: longitude)
    }
}

// MARK: - Accessors of photos, written by hand

extension Stop {
    @objc(addPhotosObject:)
    public func addToPhotos(_ photo: Photo) {
        let change = Set([photo])
        willChangeValue(forKey: "photos", withSetMutation: .union, using: change)
        mutableSetValue(forKey: #keyPath(Stop.photos)).add(photo)
        didChangeValue(forKey: "photos", withSetMutation: .union, using: change)
    }

    @objc(removePhotosObject:)
    public func removeFromPhotos(_ photo: Photo) {
        photos.remove(photo)
    }

    /// The photos by date.
    public var sortedPhotos: [Photo] {
        let descriptor = NSSortDescriptor(key: #keyPath(Photo.createdAt), ascending: true)
        return (photos as NSSet).sortedArray(using: [descriptor]) as? [Photo] ?? []
    }
}
