// swift-tools-version: 6.1
import PackageDescription

// The manifest is in the form for Linux. The sources are those of an app for Apple's platforms: on other platforms they compile
// after `coral-port --fix`, which `Scripts/test-packages` runs on a copy. Only `--macro` needs the trait and ManagedMacros.
let package = Package(
    name: "TravelDiary",
    platforms: [.macOS(.v12), .iOS(.v15)],
    products: [.library(name: "TravelDiary", targets: ["TravelDiary"])],
    dependencies: [
        .package(name: "coral", path: "../../..", traits: ["Macros"]),
        .package(name: "Apple", path: "../../../Apple"),
    ],
    targets: [
        .target(
            name: "TravelDiary",
            dependencies: [
                .product(name: "CoreData", package: "coral", condition: .when(platforms: [.linux])),
                .product(name: "ManagedMacros", package: "coral"),
                .product(name: "os", package: "Apple", condition: .when(platforms: [.linux])),
                .product(name: "Combine", package: "Apple", condition: .when(platforms: [.linux])),
            ],
            plugins: [.plugin(name: "CoralModelPlugin", package: "coral")]),
        .testTarget(name: "TravelDiaryTests", dependencies: ["TravelDiary"]),
    ],
    swiftLanguageModes: [.v5]
)
