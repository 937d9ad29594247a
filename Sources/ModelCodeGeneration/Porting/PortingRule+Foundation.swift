// The parts of Foundation and related modules that the data layers of apps use and that exist on Apple's platforms only. Each
// name was checked by compiling it with Swift 6.3 on Linux.

extension PortingRule {
    /// A file that uses types of Foundation which are in a module of their own on other platforms, or need it.
    private static func missingPart(_ module: String) -> PortingRule {
        PortingRule(
            "import \(module)",
            "This needs a module of its own here: write `#if canImport(\(module))`, `import \(module)` and `#endif` after the"
                + " imports.")
    }

    /// The rules about the modules that Foundation consists of on other platforms, by their names.
    package static let foundationParts = Dictionary(
        uniqueKeysWithValues: partNames.keys.map { ($0, missingPart($0)) })

    /// The types of those modules.
    static let partNames: [String: Set<String>] = [
        "CoreFoundation": runLoopNames, "FoundationNetworking": networkingNames, "FoundationXML": xmlNames,
    ]

    private static let runLoopNames: Set<String> = [
        "CFRunLoopActivity", "CFRunLoopAddObserver", "CFRunLoopGetCurrent", "CFRunLoopGetMain", "CFRunLoopObserver",
        "CFRunLoopObserverCreateWithHandler", "CFRunLoopObserverInvalidate", "CFRunLoopRemoveObserver",
    ]

    /// Without `XMLElement` and `XMLNode`, which packages often declare themselves.
    private static let xmlNames: Set<String> = ["XMLDocument", "XMLParser", "XMLParserDelegate"]

    private static let networkingNames: Set<String> = [
        "HTTPCookieStorage", "HTTPURLResponse", "URLCache", "URLCredential", "URLProtectionSpace", "URLProtocol",
        "URLRequest",
        "URLResponse", "URLSession", "URLSessionConfiguration", "URLSessionDataTask", "URLSessionDelegate",
        "URLSessionDownloadTask", "URLSessionTask", "URLSessionUploadTask",
    ]

    static let foundation =
        [
            PortingRule("NSMapTable", collection), PortingRule("NSHashTable", collection),
            PortingRule("objc_getAssociatedObject", associated), PortingRule("objc_setAssociatedObject", associated),
            PortingRule("objc_sync_enter", lock), PortingRule("objc_sync_exit", lock),
            PortingRule("os_unfair_lock", lock),
            PortingRule("CFAbsoluteTimeGetCurrent", "Write `Date().timeIntervalSinceReferenceDate`."),
            PortingRule("CFAbsoluteTime", "Write `TimeInterval`."),
            PortingRule("CFTimeInterval", "Write `TimeInterval`."),
            PortingRule(
                "CFNumberIsFloatType", "Compare the type: `[\"d\", \"f\"].contains(String(cString: number.objCType))`."),
            PortingRule("CFGetTypeID", booleanNumber), PortingRule("CFBooleanGetTypeID", booleanNumber),
            PortingRule(".commonModes", "Write `kCFRunLoopCommonModes`. " + runLoopObservers),
            PortingRule("ProcessInfo()", "Write `ProcessInfo.processInfo`."),
            PortingRule("mach_absolute_time", "Use `ContinuousClock`."),
            PortingRule("os_log", logger),
            PortingRule("observeValue(forKeyPath", keyValueObserving),
            PortingRule("NSKeyValueChangeKey", keyValueObserving),
            PortingRule("func keyPathsForValuesAffectingValue", dependentKeys),
            PortingRule("func automaticallyNotifiesObservers", dependentKeys),
            PortingRule("NSException", "There are no exceptions: throw an error."),
            PortingRule("NSSetUncaughtExceptionHandler", onlyThere),
            PortingRule(".prepare(withInvocationTarget", "Use `registerUndo(withTarget:handler:)`."),
            PortingRule("trashItem(at", onlyThere),
            PortingRule("URL.documentsDirectory", directory),
            PortingRule("URL.applicationSupportDirectory", directory),
            PortingRule("URL.cachesDirectory", directory),
        ]
        + [
            "DateComponentsFormatter", "ListFormatter", "LocalizedStringResource", "MeasurementFormatter",
            "NSDataDetector",
            "NSFileCoordinator", "NSItemProvider", "NSLinguisticTagger", "NSUbiquitousKeyValueStore", "NSUserActivity",
            "NSXPCConnection",
            "RelativeDateTimeFormatter", "forUbiquityContainerIdentifier", "makeFileSystemObjectSource",
            "performExpiringActivity", ".beginActivity(options",
        ].map { PortingRule($0, onlyThere) }
        + securityNames.map { PortingRule($0, onlyThere) }
        + bundleKeys.map { PortingRule($0, "Write the key: `\"\($1)\"`.") }

    /// Names of the module Security, which Foundation imports on Apple's platforms.
    package static let securityNames = [
        "SecItemAdd", "SecItemCopyMatching", "SecItemDelete", "SecItemUpdate", "kSecAttrAccessGroup",
        "kSecAttrAccessible",
        "kSecAttrAccount", "kSecAttrService", "kSecClass", "kSecClassGenericPassword", "kSecMatchLimit",
        "kSecMatchLimitOne", "kSecReturnData", "kSecUseDataProtectionKeychain", "kSecValueData",
    ]

    /// The keys of a bundle's information, by the names that Core Foundation has for them.
    package static let bundleKeys = Dictionary(
        uniqueKeysWithValues: [
            "DevelopmentRegion", "Executable", "Identifier", "InfoDictionaryVersion", "Localizations", "Name",
            "Version",
        ].map { ("kCFBundle\($0)Key", "CFBundle\($0)") })

    private static let collection =
        "There are no weak collections of Foundation: keep a dictionary of `ObjectIdentifier` and weak boxes."
    private static let associated = "There are no associated objects: keep the value in a property of the class."
    private static let lock = "Use `NSLock`, or `Mutex` of the module Synchronization."
    private static let keyValueObserving =
        "Observe a managed object with a closure: `note.observe(\\.title) { note, change in … }`."
    /// What differs, although it compiles with the import.
    package static let runLoopObservers =
        "An observer is called only while the thread runs its `RunLoop`: not in an asynchronous `main`."
    private static let booleanNumber =
        "A number is a truth value by its type here: `String(cString: number.objCType) == \"c\"`."
    private static let dependentKeys =
        "Only Objective-C calls it: put it between `#if canImport(ObjectiveC)` and `#endif`."
    private static let onlyThere = "Put the code between `#if canImport(Darwin)` and `#endif`."
    private static let directory = "Use `FileManager.default.urls(for:in:)`."
}
