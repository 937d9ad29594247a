// swift-tools-version: 6.1
import PackageDescription

// A SwiftData store of one's own: a folder with a JSON document for each model. On Apple's platforms `import SwiftData` finds the
// system's framework.
let package = Package(
    name: "DocumentFolder",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [.library(name: "DocumentFolder", targets: ["DocumentFolder"])],
    dependencies: [
        .package(name: "coral", path: "../../..", traits: ["Macros"])
    ],
    targets: [
        .target(name: "DocumentFolder", dependencies: [.product(name: "SwiftData", package: "coral")]),
        .testTarget(name: "DocumentFolderTests", dependencies: ["DocumentFolder"]),
    ]
)
