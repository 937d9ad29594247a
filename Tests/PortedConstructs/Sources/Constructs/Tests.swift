import CoreData
import XCTest

final class BookTests: XCTestCase {
    func testSaving() throws {
        let saved = expectation(description: "saved")
        wait(for: [saved])
        waitForExpectations(timeout: 1)
        XCTExpectFailure("later")
        add(XCTAttachment(string: "a"))
        XCTContext.runActivity(named: "save") { _ in }
        executionTimeAllowance = 60
        keyValueObservingExpectation(for: saved, keyPath: "fractionCompleted")
        measure(metrics: [XCTClockMetric()]) {}
    }
}
