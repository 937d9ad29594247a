import Foundation

// Foundation's functions and constants that Core Data code uses, and that Foundation lacks outside Apple's platforms.

/// The name of a class, with its module, such as `Notes.Note`. Foundation's function of this name stops the program for a class in
/// another type, and for a private one.
///
/// A class of managed objects is found by this name afterwards, also a private one.
public func NSStringFromClass(_ aClass: AnyClass) -> String {
    let name = String(reflecting: aClass)
    guard name.contains("(") || name.split(separator: ".").count > 2 else {
        return Foundation.NSStringFromClass(aClass)
    }
    if let managedObjectClass = aClass as? NSManagedObject.Type {
        ManagedObjectClasses.shared.register(managedObjectClass)
    }
    return name
}

// For `attributes[.protectionKey] as? FileProtectionType == .complete`.
extension FileProtectionType: @retroactive Equatable {}

/// The key of the resource value that excludes a file from backups.
public let kCFURLIsExcludedFromBackupKey = "NSURLIsExcludedFromBackupKey"
