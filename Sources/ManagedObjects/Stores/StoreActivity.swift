import Foundation

/// What a store does when an error of its database occurs.
enum StoreActivity: Sendable {
    case opening, reading, saving

    /// Core Data's code where that of the database is too general.
    var code: CocoaError.Code {
        switch self {
        case .opening: .persistentStoreOpen
        case .reading: .fileReadUnknown
        case .saving: .persistentStoreSave
        }
    }
}
