import Foundation

/// A point in a store's history.
@available(*, unavailable, message: "The history of a store is not part of this version.")
open class NSPersistentHistoryToken: NSObject {}
