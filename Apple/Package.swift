// swift-tools-version: 6.1
import PackageDescription

// Modules with the names of Apple's, for ported apps: see README.md. A package of its own, because a module named `os` or `Combine`
// is visible to every module that is built beside it: `#if canImport(Combine)` in another package would be true. The engine and the
// toolkit do not depend on it.
let package = Package(
    name: "Apple",
    products: [
        .library(name: "os", targets: ["os"]),
        // A product of its own, because swift-syntax logs by `os` wherever a module OSLog is visible, and then does not link.
        .library(name: "OSLog", targets: ["OSLog"]),
        .library(name: "Combine", targets: ["Combine"]),
    ],
    dependencies: [
        .package(name: "coral", path: ".."),
        .package(url: "https://github.com/apple/swift-log", from: "1.5.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        // Logging over swift-log, signposts without effect, and the unfair lock.
        .target(name: "os", dependencies: [.product(name: "Logging", package: "swift-log")]),
        .target(name: "OSLog", dependencies: ["os"]),
        // Combine over OpenCombine, with the publishers of Core Data.
        .target(
            name: "Combine",
            dependencies: [
                .product(name: "CoreData", package: "coral"),
                .product(name: "OpenCombine", package: "OpenCombine"),
                .product(name: "OpenCombineDispatch", package: "OpenCombine"),
                .product(name: "OpenCombineFoundation", package: "OpenCombine"),
            ]),
        .testTarget(name: "osTests", dependencies: ["os", "OSLog", .product(name: "Logging", package: "swift-log")]),
        .testTarget(name: "CombineTests", dependencies: ["Combine", .product(name: "CoreData", package: "coral")]),
    ],
    swiftLanguageModes: [.v6]
)
