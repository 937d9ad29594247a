// swift-tools-version: 6.1
import PackageDescription

// SwiftData on a server: the part between an HTTP framework and the models. README.md is the tutorial.
let package = Package(
    name: "RecipeServer",
    platforms: [.macOS(.v15)],
    products: [.library(name: "RecipeServer", targets: ["RecipeServer"])],
    dependencies: [
        .package(name: "coral", path: "../../..", traits: ["Macros"])
    ],
    targets: [
        .target(
            name: "RecipeServer",
            dependencies: [
                .product(name: "SwiftData", package: "coral"), .product(name: "CoralModels", package: "coral"),
                .product(name: "Coral", package: "coral"),
            ]),
        .testTarget(name: "RecipeServerTests", dependencies: ["RecipeServer"]),
    ]
)
