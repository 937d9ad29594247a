import CloudKit
