// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// Money for a chain on which nothing is real: whoever asks has as much as they like. It can be told to keep a part of each
/// transfer, or to say that it has moved what it has not, to see what others make of that.
contract Dollar {
    string public name;
    string public symbol;
    uint8 public immutable decimals;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    uint256 public keptOfTenThousand;
    bool public lies;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory name_, string memory symbol_, uint8 decimals_) {
        (name, symbol, decimals) = (name_, symbol_, decimals_);
    }

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function behave(uint256 keptOfTenThousand_, bool lies_) external {
        (keptOfTenThousand, lies) = (keptOfTenThousand_, lies_);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        return move(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        return move(from, to, value);
    }

    function move(address from, address to, uint256 value) private returns (bool) {
        if (lies) return true;
        uint256 kept = value * keptOfTenThousand / 10_000;
        balanceOf[from] -= value;
        balanceOf[to] += value - kept;
        emit Transfer(from, to, value - kept);
        return true;
    }
}
