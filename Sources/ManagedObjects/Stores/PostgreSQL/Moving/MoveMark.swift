#if PostgreSQL
    import CoreDataErrors
    import Foundation

    /// What stands in the metadata of a place from which a store was moved away, or to which it is being moved.
    enum MoveMark: Equatable {
        /// With the URL of its new place, without a password.
        case moved(String)
        /// With the URL of the place where it still is, without a password.
        case arriving(String)

        static let movedKey = "CoralMovedTo"
        static let arrivingKey = "CoralArrivingFrom"

        /// The error of those who open or use the store at this place.
        func error(at url: URL?) -> CocoaError {
            switch self {
            case .moved(let place):
                CocoaError(
                    .persistentStoreOpen, "The store has been moved to \(place).", url: url,
                    userInfo: [MovedStoreURLErrorKey: URL(string: place) as Any])
            case .arriving(let place):
                CocoaError(
                    .persistentStoreOpen,
                    "The store is being moved here, and is at \(place) until the move is complete.",
                    url: url)
            }
        }
    }

    extension StoreMetadata {
        /// Nil for the metadata of a store.
        var moveMark: MoveMark? {
            if let place = content[MoveMark.arrivingKey] as? String { return .arriving(place) }
            if let place = content[MoveMark.movedKey] as? String { return .moved(place) }
            return nil
        }
    }
#endif
