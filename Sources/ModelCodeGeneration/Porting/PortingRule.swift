/// A construct that exists in Swift on Apple's platforms only, and its replacement.
public struct PortingRule: Sendable, Hashable {
    /// The code to search for. Words match only as whole words.
    public let pattern: String
    /// The replacement, in one sentence.
    public let replacement: String

    /// The rules, in no particular order; if two match at the same position, the longer pattern is used.
    public static let all: [PortingRule] = language + coreData + observation + views + modules

    private static let language = [
        PortingRule("@objcMembers", "Remove it: there is no Objective-C."),
        PortingRule("@objc", "Remove it, or put it between `#if canImport(ObjectiveC)` and `#endif`."),
        PortingRule(
            "#keyPath", "Write the key path as a string, or `NSExpression(forKeyPath: \\Type.property).keyPath`."),
        PortingRule(
            "#selector",
            "Write the selector's name: `Selector(\"localizedStandardCompare:\")`; for actions, a closure."),
        PortingRule("autoreleasepool", "Call the block directly: there are no autorelease pools."),
    ]

    private static let coreData =
        [
            PortingRule(
                "@NSManaged",
                "Write `@Managed` before the class (product ManagedMacros) and leave @NSManaged out, or let the plugin"
                    + " CoralModelPlugin generate the class: set the entity's code generation to Class Definition."),
            PortingRule("as! NSFetchRequest", uncastRequest),
            PortingRule("as? NSFetchRequest", uncastRequest),
            PortingRule(
                "override init(entity",
                "The initialiser is required here: write `required` in place of `override` behind `#if !canImport(Darwin)`."
            ),
            PortingRule(
                "NSPersistentCloudKitContainer",
                "CloudKit is Apple's: use `NSPersistentContainer` behind `#if !canImport(CloudKit)`."),
            PortingRule("NSCoreDataCoreSpotlightDelegate", onlyWith("CoreSpotlight")),
            PortingRule(
                "NSFetchedResultsController",
                "It is not available: fetch, and fetch again at `NSManagedObjectContext.didChangeObjectsNotification`."),
        ]
        + ["NSMigrationManager", "NSMappingModel", "NSEntityMigrationPolicy"].map {
            PortingRule(
                $0, "Migration is not part of this version: put the code between `#if canImport(Darwin)` and `#endif`.")
        }

    private static let observation = [
        PortingRule(
            "addObserver(self, forKeyPath",
            "Observe a managed object with a closure: `note.observe(\\.title) { note, change in … }`."),
        PortingRule(".publisher(for", "There is no Combine: observe the notification with a block."),
    ]

    private static let views =
        ["@FetchRequest", "@SectionedFetchRequest", "@ObservedObject"].map { PortingRule($0, onlyWith("SwiftUI")) }
        + ["@IBAction", "@IBOutlet"].map { PortingRule($0, onlyWith("UIKit")) }

    private static let modules = appleModules.map { module in
        PortingRule(
            "import \(module)",
            "The module is Apple's: write `#if canImport(\(module))` around it and what needs it.")
    }

    private static let uncastRequest =
        "A request cannot be cast to another type: write `NSFetchRequest<Note>(request)`."

    private static func onlyWith(_ module: String) -> String {
        "Put the code between `#if canImport(\(module))` and `#endif`."
    }

    /// Modules that exist on Apple's platforms only and are often used together with Core Data.
    static let appleModules = [
        "AppKit", "CloudKit", "Combine", "CoreLocation", "CoreSpotlight", "CryptoKit", "Darwin", "MapKit", "ObjectiveC",
        "OSLog",
        "SwiftData", "SwiftUI", "UIKit", "UniformTypeIdentifiers", "WatchKit", "WidgetKit", "os",
    ]

    private init(_ pattern: String, _ replacement: String) {
        self.pattern = pattern
        self.replacement = replacement
    }
}
