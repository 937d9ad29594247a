import Foundation

/// The options for mirroring a store to CloudKit.
@available(*, unavailable, message: "CloudKit exists on Apple's platforms only.")
open class NSPersistentCloudKitContainerOptions: NSObject {}
