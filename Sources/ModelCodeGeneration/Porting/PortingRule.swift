/// Something that Apple's Swift has and others have not, and what to write instead.
public struct PortingRule: Sendable, Hashable {
    /// What is looked for, as it stands in code. Words are found as words, not as parts of others.
    public let pattern: String
    /// What to write instead, as a sentence.
    public let replacement: String

    /// The rules, in no particular order; where two apply at one place, the longer pattern does.
    public static let all: [PortingRule] =
        [
            PortingRule(
                "@NSManaged",
                "Write `@Managed` before the class (product ManagedMacros) and leave @NSManaged out, or let the plugin"
                    + " CoralModelPlugin generate the class: set the entity's code generation to Class Definition."),
            PortingRule("@objcMembers", "Leave it out: there is no Objective-C to show the members to."),
            PortingRule("@objc", "Leave it out, or put it between `#if canImport(ObjectiveC)` and `#endif`."),
            PortingRule("@IBAction", "Put the code between `#if canImport(UIKit)` and `#endif`."),
            PortingRule("@IBOutlet", "Put the code between `#if canImport(UIKit)` and `#endif`."),
            PortingRule(
                "#keyPath", "Write the key path as a string, or `NSExpression(forKeyPath: \\Type.property).keyPath`."),
            PortingRule(
                "#selector",
                "Write the selector's name: `Selector(\"localizedStandardCompare:\")`; for targets and actions, a closure."
            ),
            PortingRule(
                "as! NSFetchRequest", "A request cannot be cast to another type: write `NSFetchRequest<Note>(request)`."
            ),
            PortingRule(
                "as? NSFetchRequest", "A request cannot be cast to another type: write `NSFetchRequest<Note>(request)`."
            ),
            PortingRule(
                "override init(entity",
                "The initialiser is required here: write `required` in place of `override` behind `#if !canImport(Darwin)`."
            ),
            PortingRule(
                "NSPersistentCloudKitContainer",
                "CloudKit is Apple's: use `NSPersistentContainer` behind `#if !canImport(CloudKit)`."),
            PortingRule(
                "NSCoreDataCoreSpotlightDelegate",
                "Spotlight is Apple's: put the code between `#if canImport(CoreSpotlight)` and `#endif`."),
            PortingRule(
                "NSKeyValueObservation",
                "There is no key-value observing: observe `NSManagedObjectContext.didChangeObjectsNotification`, or override `didChangeValue(forKey:)`."
            ),
            PortingRule(
                "addObserver(self, forKeyPath",
                "There is no key-value observing: observe `NSManagedObjectContext.didChangeObjectsNotification`, or override `didChangeValue(forKey:)`."
            ),
            PortingRule(".publisher(for", "There is no Combine: observe the notification with a block."),
            PortingRule("autoreleasepool", "Call the block itself: there are no autorelease pools."),
            PortingRule("@FetchRequest", "Put the code between `#if canImport(SwiftUI)` and `#endif`."),
            PortingRule("@SectionedFetchRequest", "Put the code between `#if canImport(SwiftUI)` and `#endif`."),
            PortingRule("@ObservedObject", "Put the code between `#if canImport(SwiftUI)` and `#endif`."),
        ]
        + appleModules.map { module in
            PortingRule(
                "import \(module)",
                "The module is Apple's: write `#if canImport(\(module))` around it and what needs it.")
        }

    /// Modules that exist on Apple's platforms only and are often met beside Core Data.
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
