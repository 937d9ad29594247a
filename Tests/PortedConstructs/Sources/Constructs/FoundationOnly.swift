import CoreData
import Foundation

// Declarations that Foundation and related modules have on Apple's platforms only.

final class Cache {
    let table = NSMapTable<NSString, Book>.strongToWeakObjects()
    let authors = NSHashTable<Author>.weakObjects()
    let started = CFAbsoluteTimeGetCurrent()
    var ended: CFAbsoluteTime?
    var pause: CFTimeInterval = 1
    let ticks = mach_absolute_time()
    var lock = os_unfair_lock()
    let folders = [URL.documentsDirectory, URL.applicationSupportDirectory, URL.cachesDirectory]
    let store = NSUbiquitousKeyValueStore.default
    let lists = ListFormatter()
    let times = RelativeDateTimeFormatter()
    let durations = DateComponentsFormatter()
    let measures = MeasurementFormatter()
    let coordinator = NSFileCoordinator()
    let activity = NSUserActivity(activityType: "read")
    let provider = NSItemProvider()
}

func remove(_ file: URL, manager: FileManager, undo: UndoManager, book: Book) throws {
    try manager.trashItem(at: file, resultingItemURL: nil)
    objc_setAssociatedObject(book, "key", 1, .OBJC_ASSOCIATION_RETAIN)
    _ = objc_getAssociatedObject(book, "key")
    objc_sync_enter(book)
    objc_sync_exit(book)
    os_log("removed")
    undo.prepare(withInvocationTarget: book)
    _ = manager.url(forUbiquityContainerIdentifier: nil)
    _ = ProcessInfo.processInfo.beginActivity(options: [], reason: "read")
    ProcessInfo.processInfo.performExpiringActivity(withReason: "read") { _ in }
    _ = DispatchSource.makeFileSystemObjectSource(fileDescriptor: 0, eventMask: .write)
    NSException(name: .genericException, reason: nil).raise()
    NSSetUncaughtExceptionHandler { _ in }
}

func words(in text: String) throws {
    _ = try NSDataDetector(types: 0)
    _ = NSLinguisticTagger(tagSchemes: [], options: 0)
    _ = NSXPCConnection(serviceName: "books")
    _ = String(localized: "Books")
    _ = LocalizedStringResource("Books")
}

func isFloat(_ number: NSNumber) -> Bool { CFNumberIsFloatType(number) }

func isTruthValue(_ number: NSNumber) -> Bool { CFGetTypeID(number) == CFBooleanGetTypeID() }

let started = ProcessInfo()

let keysOfBundles = [
    kCFBundleDevelopmentRegionKey as String,
    kCFBundleExecutableKey as String,
    kCFBundleIdentifierKey as String,
    kCFBundleInfoDictionaryVersionKey as String,
    kCFBundleLocalizationsKey as String,
    kCFBundleNameKey as String,
    kCFBundleVersionKey as String,
]
