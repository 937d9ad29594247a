// `ModelCodeGeneration/Porting` contains the rules for code that does not compile outside Apple's platforms
// (`PortingRule`), and finds such code in the text of a file; `coral model port` and `coral-port` list the same lines.
// `CoralPort` rewrites them: each `Rewrite` reads the syntax trees of a whole package (`PackageIndex`) and returns
// replacements of parts of files; the code that is compiled on Apple's platforms stays the same. The index is made of
// the declarations that each file collects once for each state of its text, and a rewrite visits only files that
// contain what it looks for. `PackageManifest` adds products and the plugin to the targets of a manifest.
// `Tests/PortedConstructs` contains a construct for each rule; `Scripts/check-porting` compares the listed lines with
// those that the compiler rejects.

/// A construct that exists in Swift on Apple's platforms only, and its replacement.
public struct PortingRule: Sendable, Hashable {
    /// The code to search for. Words match only as whole words.
    public let pattern: String
    /// The replacement, in one sentence.
    public let replacement: String

    /// The rules whose pattern is searched for in the code, in no particular order; if two match at the same position, the
    /// longer pattern is used.
    public static let all: [PortingRule] = language + coreData + foundation + observation + tests + views + modules

    /// A file that uses names of Core Data and does not import it.
    package static let missingImport = PortingRule(
        "import CoreData",
        "Write `import CoreData` in each file that uses its names: imports in other files have no effect here.")
    /// A method in an extension that overrides one of a superclass.
    static let overrideInExtension = PortingRule(
        "override", "Move it into the body of the class: without Objective-C an extension cannot override.")

    /// A type of the package whose name Foundation has too.
    static func ambiguousType(_ name: String, of module: String) -> PortingRule {
        PortingRule(name, "Foundation has a type of this name too: write `\(module).\(name)`.")
    }

    private static let language = [
        PortingRule("@objcMembers", "Put it between `#if canImport(ObjectiveC)` and `#endif`."),
        PortingRule("@objc", "Put it between `#if canImport(ObjectiveC)` and `#endif`."),
        PortingRule("optional func", optionalRequirement),
        PortingRule("optional var", optionalRequirement),
        PortingRule(
            "#keyPath",
            "Write the key path as a string, or `NSExpression(forKeyPath: \\Type.property).keyPath`. Key-value coding finds"
                + " only properties of the model."),
        PortingRule(
            "#selector",
            "Write the selector's name: `Selector((\"localizedStandardCompare:\"))`; for notifications and actions, a closure."
        ),
        PortingRule(".classForCoder()", "There is no such class method: write the type itself, `T.self`."),
        PortingRule(
            ".responds(to", "Selectors do not exist here: declare a protocol and test for it with `as?`."),
        PortingRule(
            "AutoreleasingUnsafeMutablePointer",
            "Override `validateForInsert()` and `validateForUpdate()` in place of `validate(_:)`, or put the method between"
                + " `#if canImport(ObjectiveC)` and `#endif`."),
    ]

    private static let optionalRequirement =
        "Give the requirement a default implementation in an extension of the protocol: only @objc protocols have optional ones."

    private static let coreData = [
        managed,
        PortingRule(
            "NSFetchRequestResult.self", "The protocol does not conform to itself here: name the class of the results."),
        PortingRule("OSAllocatedUnfairLock", "Use `Mutex` of the module Synchronization, or `NSLock`."),
        PortingRule("AnyCancellable", onlyWith("Combine")),
        PortingRule("Logger(subsystem", logger),
        PortingRule("privacy: .", logger),
        PortingRule(
            bundleURLs,
            "The result is an array of `NSURL` here: write `url as URL` for its elements."),
        PortingRule(forcedRequest, uncastRequest),
        PortingRule("Foundation.ValueTransformer", unqualified),
        PortingRule("Foundation.NSPredicate", unqualified),
        PortingRule("Foundation.NSSortDescriptor", unqualified),
        PortingRule("Foundation.NSExpression", unqualified),
        PortingRule("import CoreData.", "Write `import CoreData`: the module's parts are Apple's."),
        PortingRule("as? NSFetchRequest", uncastRequest),
        PortingRule("] as NSSet", setLiteral),
        PortingRule("override init(entity", requiredInitializer),
        PortingRule("override convenience init(context", requiredInitializer),
        PortingRule("override init(managedObjectModel", requiredInitializer),
        PortingRule(
            "NSPersistentCloudKitContainer(", cloudKit),
        PortingRule("NSCoreDataCoreSpotlightDelegate", onlyWith("CoreSpotlight")),
    ]

    /// A property with `@NSManaged`, which links only if a file of the module contains its accessors.
    static let managed = PortingRule(
        "@NSManaged",
        "Let the target use the plugin CoralModelPlugin, which implements it: `plugins: [.plugin(name: \"CoralModelPlugin\","
            + " package: …)]` in Package.swift.")
    /// An initialiser of a transformer that is not `init()`.
    static let transformerInitializer = PortingRule(
        "init",
        "Declare `required init()` too: models create a transformer of a class that they name by this initialiser here."
    )
    /// An initialiser of a store that is not the one by which a coordinator creates it.
    static let storeInitializer = PortingRule(
        "init",
        "Declare `required init(persistentStoreCoordinator:configurationName:at:options:)` too: a coordinator creates a store by it."
    )
    /// An initialiser of a class that a variable has.
    static let initializerOfVariable = PortingRule(
        "init",
        "Swift calls an initialiser of a class in a variable only if it is `required`, and this one is not: pass a closure that creates"
            + " the object.")
    /// A call that waits for expectations without a time limit.
    static let unlimitedWait = PortingRule(
        "wait", "The time limit has no default value in this XCTest: write `timeout: 60`, or another number of seconds."
    )
    /// A macro that asks for the attribute.
    static let macroCondition = PortingRule(
        "\"objc\"", problem: "finds no attribute outside Apple's platforms",
        "A macro that requires `@objc(Name)` accepts `@_objcRuntimeName(Name)` too, which the class has there.")
    /// An include of one of Apple's headers, or an import of one of its modules, in a file of C or Objective-C.
    static let appleHeader = PortingRule(
        "#include", "The header is Apple's: put the include, and what uses it, between `#ifdef __APPLE__` and `#endif`."
    )
    /// Whether a header, given by its path such as `mach/mach.h`, or a module comes with Apple's platforms only.
    static func isAppleHeader(_ path: some StringProtocol) -> Bool {
        appleHeaders.contains(String(path.prefix { $0 != "/" && $0 != "." }))
    }
    private static let appleHeaders: Set = [
        "AppKit", "Availability", "AvailabilityMacros", "CommonCrypto", "CoreData", "CoreFoundation", "Foundation",
        "Security",
        "TargetConditionals", "UIKit", "libkern", "mach", "mach-o", "objc", "os",
    ]
    /// An array literal that is assigned to a property of type `NSSet`.
    static let assignedLiteral = PortingRule("[", setLiteral)
    private static let setLiteral = "Write `NSSet(array: […])`."
    /// The forced cast of a request in a ported source. It is a finding because the cast fails here: a request for other results has
    /// another type.
    static let forcedRequest = "as! NSFetchRequest"
    /// The beginning of a call whose result has elements of another type here.
    static let bundleURLs = "urls(forResourcesWithExtension"
    static let logger = "The module os is Apple's: use the package swift-log, or `print`."
    private static let unqualified = "Leave the module out: the class comes with `import CoreData` here."
    private static let requiredInitializer = "The initialiser is required here: write `override required`."

    private static let observation =
        [
            PortingRule(
                "addObserver(self, forKeyPath",
                "Observe a managed object with a closure: `note.observe(\\.title) { note, change in … }`."),
            PortingRule(
                "addObserver(self, selector",
                "Observe the notification with a block: `addObserver(forName:object:queue:using:)`."),
            PortingRule(".publisher(for", "There is no Combine: observe the notification with a block."),
            PortingRule(
                ".objectWillChange",
                "There is no Combine: observe the object's keys by `observe(key:)`, or the notification of changes."),
        ]

    private static let tests =
        [
            "XCTExpectFailure", "XCTAttachment", "XCTContext", "measure(metrics", "executionTimeAllowance",
            "keyValueObservingExpectation",
        ].map {
            PortingRule(
                $0, "XCTest has it on Apple's platforms only: put it between `#if canImport(Darwin)` and `#endif`.")
        }

    private static let views = ["@FetchRequest", "@SectionedFetchRequest", "@ObservedObject"].map {
        PortingRule($0, onlyWith("SwiftUI"))
    }

    private static let modules = appleModules.map { module in
        PortingRule(
            "import \(module)",
            "The module is Apple's: write `#if canImport(\(module))` around the import and the code that uses it.")
    }

    /// A class that inherits from the container which mirrors its store.
    static let mirroredContainer = PortingRule("NSPersistentCloudKitContainer", cloudKit)
    private static let cloudKit = "CloudKit is Apple's: use `NSPersistentContainer` behind `#if !canImport(CloudKit)`."

    private static let uncastRequest =
        "A request cannot be cast to another type: write `NSFetchRequest<Note>(entityName: \"Note\")`."

    private static func onlyWith(_ module: String) -> String {
        "Put the code between `#if canImport(\(module))` and `#endif`."
    }

    /// The patterns of the rules about modules that the package `Apple` has on other platforms.
    static let ofAppleModules: Set<String> = [
        "import os", "import OSLog", "import Combine", "Logger(subsystem", "privacy: .", "os_log",
        "OSAllocatedUnfairLock", "AnyCancellable", ".publisher(for", ".objectWillChange",
    ]

    /// Modules that exist on Apple's platforms only and are often used together with Core Data.
    package static let appleModules = [
        "AVFoundation", "AVKit", "Accelerate", "AppKit", "AuthenticationServices", "BackgroundTasks", "CloudKit",
        "Combine", "Contacts", "CoreBluetooth", "CoreImage", "CoreLocation", "CoreML", "CoreMedia", "CoreMotion",
        "CoreSpotlight", "CoreTelephony", "CoreText", "CryptoKit", "Darwin", "EventKit", "HealthKit", "ImageIO",
        "LinkPresentation", "LocalAuthentication", "MachO", "MapKit", "MediaPlayer", "MessageUI", "MetricKit",
        "MultipeerConnectivity", "Network", "OSLog", "ObjectiveC", "PDFKit", "PassKit", "Photos", "QuartzCore",
        "QuickLook", "SafariServices", "Security", "ServiceManagement", "StoreKit", "SwiftUI", "SystemConfiguration",
        "UIKit", "UniformTypeIdentifiers", "UserNotifications", "WatchConnectivity", "WatchKit", "WebKit",
        "WidgetKit", "os",
    ]

    /// What is wrong with the code.
    let problem: String

    init(
        _ pattern: String, problem: String = "does not compile outside Apple's platforms", _ replacement: String
    ) {
        self.pattern = pattern
        self.problem = problem
        self.replacement = replacement
    }
}
