import Foundation

/// How a store is mirrored to CloudKit.
@available(*, unavailable, message: "CloudKit exists on Apple's platforms only.")
open class NSPersistentCloudKitContainerOptions: NSObject {}
