// swift-tools-version: 6.1
import PackageDescription

// A package with SwiftData's models, as an app has them. On Apple's platforms `import SwiftData` finds the system's framework.
let package = Package(
    name: "Cocktails",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [.library(name: "Cocktails", targets: ["Cocktails"])],
    dependencies: [
        .package(name: "coral", path: "../../..", traits: ["Macros"]),
        // Reads stores without Coral, for comparisons.
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .target(name: "Cocktails", dependencies: [.product(name: "SwiftData", package: "coral")]),
        .testTarget(
            name: "CocktailsTests",
            dependencies: [
                "Cocktails", .product(name: "CoreData", package: "coral"),
                .product(name: "CoralModels", package: "coral"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
    ]
)
