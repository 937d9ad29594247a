// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "SendingNotes",
    platforms: [.macOS(.v12)],
    dependencies: [
        .package(
            url: "https://example.org/coral",
            .upToNextMinor(from: "0.1.0"))
    ],
    targets: [
        .executableTarget(
            name: "SendingNotes",
            dependencies: [.product(name: "Coral", package: "coral")])
    ]
)
