// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Checklist",
    platforms: [.macOS(.v12), .iOS(.v15)],
    products: [.library(name: "Checklist", targets: ["Checklist"])],
    dependencies: [
        .package(name: "coral", path: "../../..", traits: ["Macros"])
    ],
    targets: [
        .target(
            name: "Checklist",
            dependencies: [
                .product(name: "CoreData", package: "coral"), .product(name: "ManagedMacros", package: "coral"),
            ],
            plugins: [.plugin(name: "CoralModelPlugin", package: "coral")]),
        .testTarget(name: "ChecklistTests", dependencies: ["Checklist"]),
    ]
)
