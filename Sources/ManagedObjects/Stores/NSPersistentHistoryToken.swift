import Foundation

/// A point in a store's history.
@available(*, unavailable, message: "The history of a store is not part of this version.")
open class NSPersistentHistoryToken: NSObject {}

/// How a store is mirrored to CloudKit.
@available(*, unavailable, message: "CloudKit exists on Apple's platforms only.")
open class NSPersistentCloudKitContainerOptions: NSObject {}
